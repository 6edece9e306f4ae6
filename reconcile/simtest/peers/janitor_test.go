package peers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// A scene is a small world with one janitor in it, and what is left in the end.
type scene struct {
	bookkeeper
	town *platform.Platform
	end  func()
}

func (s *scene) End() []history.Violation {
	s.end()
	return nil
}

// left plays a script with a policy and gives what is left: "t1=failed", "running 2".
func left(t *testing.T, p Policy, text string) []string {
	t.Helper()
	script, err := simtest.Parse("scene", "seed 1\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	exact := map[string]bool{}
	s := &scene{}
	s.end = func() { out = s.state(t) }
	r := simtest.Run(t, script, simtest.Options{Collect: true, Watch: []platform.Watcher{s}, Every: p.Cadence(),
		Janitor: p.plays(exact), Begun: func(town *platform.Platform) {
			s.town = town
			for name, rule := range town.Policy().Providers {
				exact[name] = rule.SandboxIsID
			}
		}})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return out
}

// state is what rows and sandboxes are in the end.
func (s *scene) state(t *testing.T) []string {
	rows, err := s.town.Tasks().ByID(t.Context(), []string{"t1", "t2"})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, row := range rows.Tasks {
		out = append(out, fmt.Sprintf("%s=%s", row.ID, row.State))
	}
	for _, provider := range []string{"annex", "lab"} {
		if world := s.town.World(provider); world != nil {
			for _, box := range world.Sandboxes() {
				out = append(out, provider+" "+string(box.State))
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestJanitor(t *testing.T) {
	const full = "kind full\nprovider lab exclusive=yes\n"
	for name, c := range map[string]struct {
		policy Policy
		script string
		want   string
	}{
		"it fails rows and ends nothing": {Coder(), "calm 20m\n" + full + "task t1 running age=1h\n@1m worker t1 die\n",
			"lab running, t1=failed"},
		"it ends sandboxes and fails no row": {Runbook(), "calm 6m\n" + full + "task t1 running age=1h\n", "t1=running"},
		"it stops and does not delete": {Kortix(), "calm 26m\n" + full + "task t1 completed age=1h\n@1m user t1 touch\n",
			"lab stopped, t1=completed"},
		"a listing that fails ends nothing": {Runbook(), "calm 6m\n" + full + "task t1 running age=1h\n" +
			"@0s fault lab list error status 503 for 10m\n", "lab running, t1=running"},
		"one that fails does not hide another's": {Runbook(), "calm 6m\n" + full + "provider annex exclusive=yes\n" +
			"task t1 running age=1h provider=lab\ntask t2 running age=1h provider=annex\n@0s fault lab list error status 503 for 10m\n",
			"lab running, t1=running, t2=running"},
		"an empty list is believed": {Runbook(), "calm 6m\n" + full + "task t1 running age=1h\n@0s fault lab list empty for 10m\n",
			"lab running, t1=running"},
		"not found is gone": {Kortix(), "calm 5m\n" + full + "task t1 running age=1h\n@1m sandbox t1 die\n",
			"t1=failed"},
		"a gateway's page that says 404 is not": {Kortix(), "calm 5m\n" + full + "task t1 running age=1h\n" +
			"@1m fault lab get error status 404 for 1m\n", "lab running, t1=running"},
		"an error is not gone": {Kortix(), "calm 5m\n" + full + "task t1 running age=1h\n@1m fault lab get error status 503 for 1m\n",
			"lab running, t1=running"},
		"a row that is read again may have moved": {Coder(), "calm 20m\n" + full + "task t1 running age=1h\n@1m worker t1 silent\n" +
			"@5m40s freeze any ByID 1 before for 5m\n@7m user t1 stop\n", "lab running, t1=stopped"},
		"a killed process goes on where it was": {Kortix(), "calm 12m\n" + full + "task t1 running age=1h\n@1m sandbox t1 stop\n" +
			"@1m30s crash any Get 1 after\n", "lab stopped, t1=failed"},
		"a row that names a sandbox in its own words": {OmoiOS(), "calm 50m\nkind omoios\nprovider lab exclusive=yes\n" +
			"task t1 running age=1h act=30s\n@1m worker t1 rest\n", "t1=failed"},
		"the same with another's beside it": {OmoiOS(), "calm 50m\nkind omoios\nprovider lab exclusive=yes\n" +
			"task t1 running age=1h act=30s\ntask t2 running age=1h act=30s\n@1m worker t1 rest\n", "lab running, t1=failed, t2=running"},
		"nothing is known of a row without a sandbox": {Kortix(), "calm 10m\n" + full + "task t1 new pick=1s crash=row\n",
			"t1=assigned"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(left(t, c.policy, c.script), ", "); got != c.want {
				t.Errorf("left %q, want %q", got, c.want)
			}
		})
	}
}

// TestSweepsKeepTheirOwnTime: a janitor that wakes often runs each sweep no more often than it
// is to.
func TestSweepsKeepTheirOwnTime(t *testing.T) {
	runs := map[string]int{}
	count := func(name string, every time.Duration) Sweep {
		return Sweep{Name: name, Every: every, Decide: func(*View) []Deed {
			runs[name]++
			return nil
		}}
	}
	p := Policy{Name: "test", Sweeps: []Sweep{count("often", time.Minute), count("seldom", 5*time.Minute)}}
	left(t, p, "calm 10m30s\nprovider lab exclusive=yes\n")
	if runs["often"] != 11 || runs["seldom"] != 3 {
		t.Errorf("sweeps ran %v, want often 11 and seldom 3 times", runs)
	}
}

// TestOneSweepDoesNotKeepTheOthers: tasks that cannot be read fail one sweep only.
func TestOneSweepDoesNotKeepTheOthers(t *testing.T) {
	runs := 0
	p := Policy{Name: "test", Sweeps: []Sweep{
		{Name: "rows", Every: time.Minute, Decide: func(*View) []Deed { return nil }},
		{Name: "list", Every: time.Minute, Needs: Needs{List: true}, Decide: func(v *View) []Deed {
			runs += len(v.Boxes)
			return nil
		}},
	}}
	left(t, p, "calm 90s\nprovider lab exclusive=yes\nplatform leak 1 age=1h\n@0s fault tasks Live error for 1h\n")
	if runs == 0 {
		t.Error("the second sweep did not run")
	}
}
