package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// reloads are how often the config was read again, in force or refused.
func (d *daemonChild) reloads() (taken, refused int) {
	return len(d.logged("config read again, it is in force")), len(d.logged("config refused, the previous one is still in force"))
}

// TestReload: a config that changes is in force a moment later, without a restart.
func TestReload(t *testing.T) {
	observing := settings{mode: "observe", rules: "{orphan: {after: 30m, apart: 1s}}", more: quickly}
	a := newArena(t, observing)
	ws := a.working(3)
	a.beat(ws)
	d := a.daemon("run", "--migrate")
	stopped, orphan := a.stopped(time.Minute), a.box(nobody, 10*time.Minute)
	a.reaches("the stop is found and held", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.findings WHERE rule = 'stop-ignored' AND 'observe' = ANY (held_by)") == 1
	})
	if n := len(a.cloud.Destructive()); n > 0 {
		t.Fatalf("%d sandboxes were ended in observe", n)
	}

	a.rewrite(strings.Replace(a.configText(), "{orphan:", "{stop-ignored: enforce, orphan:", 1))
	a.reaches("the mode of the rule", func() bool { return a.ended(stopped.ID) })

	a.rewrite(strings.Replace(a.configText(), "{after: 30m, apart: 1s}", "{after: 30s, apart: 1s, mode: enforce}", 1))
	a.reaches("the threshold", func() bool { return a.ended(orphan.ID) })

	full := a.passes("full")
	a.rewrite(strings.Replace(a.configText(), `full: "@every 2s"`, `full: "@every 1h"`, 1))
	a.reaches("a third reload", func() bool { taken, _ := d.reloads(); return taken == 3 })
	full = max(full, a.passes("full"))
	quick := a.passes("quick")
	a.reaches("five quick passes", func() bool { return a.passes("quick") >= quick+5 })
	if n := a.passes("full"); n > full+1 {
		t.Errorf("%d full passes in five quick ones, on the schedule of once an hour", n-full)
	}

	d.signal(t, syscall.SIGHUP)
	a.reaches("a reload by SIGHUP", func() bool { taken, _ := d.reloads(); return taken == 4 })
	if _, refused := d.reloads(); refused != 0 {
		t.Errorf("%d reloads were refused", refused)
	}
	d.stop()
	a.keeps(ws)
}

// TestReloadOfABrokenConfig: it changes nothing, and everybody who looks is told; so is a
// key that only a restart can change.
func TestReloadOfABrokenConfig(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ old, new, says string }{
		"an unknown key":          {"mode: enforce", "mode: enforce\nmoed: observe", "moed"},
		"no YAML":                 {"mode: enforce", "mode: [", "sandkeeper.yaml"},
		"another database":        {"database: \"", "database: \"postgres://elsewhere/x?was=", "database cannot change"},
		"another installation":    {"installation: test", "installation: other", "installation cannot change"},
		"another address":         {"127.0.0.1:0", "127.0.0.1:1", "web.listen cannot change"},
		"a rule that is not one":  {"rules: {}", "rules: {orfan: enforce}", "orfan"},
		"a column that is not":    {"preset: omoios", "preset: omoios, columns: {id: 'i d;'}", "columns"},
		"two providers of a name": {"providers:", "providers:\n  - {name: daytona, kind: daytona, token: k, owns: {referenced: true}}", "daytona"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{more: quickly})
			ws := a.working(3)
			a.beat(ws)
			d := a.daemon("run", "--migrate")
			a.reaches("a pass", func() bool { return a.passes("full") > 0 })
			good := a.configText()
			broken := strings.Replace(good, tt.old, tt.new, 1)
			if broken == good {
				t.Fatal("the config has not changed")
			}
			a.rewrite(broken)
			a.reaches("the refusal in the log", func() bool { _, refused := d.reloads(); return refused == 1 })
			if l := d.logged("config refused, the previous one is still in force")[0]; !strings.Contains(l.text("err"), tt.says) {
				t.Errorf("the log does not say %q: %v", tt.says, l)
			}
			if _, page := d.read("/"); !strings.Contains(page, tt.says) {
				t.Errorf("the page does not say %q", tt.says)
			}
			if got := d.series()[`sandkeeper_config_reload_success{installation="test"}`]; got != "0" {
				t.Errorf("sandkeeper_config_reload_success is %q, want 0", got)
			}
			stopped := a.stopped(time.Minute)
			a.reaches("work goes on", func() bool { return a.ended(stopped.ID) })
			a.rewrite(good)
			a.reaches("the good one again", func() bool { taken, _ := d.reloads(); return taken == 1 })
			if got := d.series()[`sandkeeper_config_reload_success{installation="test"}`]; got != "1" {
				t.Errorf("sandkeeper_config_reload_success is %q, want 1", got)
			}
			if _, refused := d.reloads(); refused != 1 {
				t.Errorf("it was refused %d times, want once", refused)
			}
			d.stop()
			a.keeps(ws)
		})
	}
}
