package platform

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row of the evil tenant's names the sandbox in which somebody else's task works: to end it is what P15 forbids. What
// the earlier attempt of a task had that waits to be tried again is nobody's, unless its row or a label says otherwise.
func TestAnothers(t *testing.T) {
	waits := func(p *Platform) {
		p.table.change("t1", func(r *row) { r.State, r.Sandbox = reconcile.TaskPending, "" })
	}
	for name, c := range map[string]struct {
		link   string
		of     string // the task that the action is about
		ends   string // whose sandbox is ended
		then   func(*Platform)
		breaks bool
	}{
		"its own":                        {"id", "x1", "x1", nil, false},
		"another's, which its row names": {"id", "x1", "t1", nil, true},
		"another's, for itself":          {"id", "t1", "t1", nil, false},
		"what another had that waits":    {"id", "x1", "t1", waits, false},
		"what the row of another names that waits": {"id", "x1", "t1", func(p *Platform) {
			p.table.change("t1", func(r *row) { r.State = reconcile.TaskPending })
		}, true},
		"what another runs in, whose row lost it": {"id", "x1", "t1", func(p *Platform) {
			p.table.change("t1", func(r *row) { r.Sandbox = "" })
		}, true},
		"what a label says is another's that waits": {"label", "x1", "t1", waits, true},
		"what was made for another before its row said so": {"id", "x1", "t1", func(p *Platform) {
			waits(p)
			p.tasks["t1"].box.worker = nil
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			two := "provider lab exclusive=yes link=" + c.link + "\ntenants 3\ntask t1 running age=2m\ntask x1 running age=2m\n"
			found := try(t, two, func(c2 *court) {
				does(c2.T, c2.platform, "evil x1 name t1")
				if c.then != nil {
					c.then(c2.platform)
				}
				b := c2.box(c.ends)
				c2.claims(reconcile.Action{ID: "a1", Rule: "deadline-exceeded", Task: c.of, Subject: reconcile.TaskSubject(c.of),
					Provider: b.ref.Provider, Sandbox: b.ref.ID, Step: reconcile.StepTerminate, Remedy: "a1"})
				c2.looks(c.of, b)
				c2.ends(b)
			})
			got := false
			for _, v := range found {
				got = got || v.Property == "P15"
			}
			if got != c.breaks {
				t.Errorf("P15 broken: %t, want %t: %v", got, c.breaks, found)
			}
		})
	}
}

// What the evil tenant writes is what a reader sees, and what is true stays with the owner.
func TestForgedNames(t *testing.T) {
	const three = "provider lab link=id exclusive=yes\ntenants 3\ntask t1 running age=10m\ntask x1 running age=10m\n" +
		"platform foreign\n"
	onPlatform(t, three, func(t *testing.T, platform *Platform) {
		k, x := platform.tasks["t1"], platform.table.rows["x1"]
		does(t, platform, "evil x1 name t1")
		if !x.names(k.box) || platform.truth().use(k.box) == "" || !platform.tenancy.claimed["t1"] {
			t.Errorf("the row holds %q", x.Sandbox)
		}
		does(t, platform, "evil x1 take")
		if b := platform.fleet().places(foreign)[0]; !x.names(b) {
			t.Errorf("the row holds %q, not the foreign %s", x.Sandbox, b.ref.ID)
		}
		does(t, platform, "evil x1 older")
		rows, err := platform.Tasks().ByID(t.Context(), []string{"x1"})
		if err != nil || !rows.Tasks[0].CreatedAt.Before(x.CreatedAt) {
			t.Errorf("%v: the row shows %v", err, rows)
		}
	})
}

// TestUnwatched: only what came since the newest read, and before the row, could be taken for the row's own.
func TestUnwatched(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		unread, born, came time.Time
		want               bool
	}{
		"between the read and the row": {at(3), at(4), at(7), true},
		"before the read":              {at(3), at(2), at(7), false},
		"at the read":                  {at(3), at(3), at(7), false},
		"after the row":                {at(3), at(8), at(7), false},
		"nothing was read yet":         {time.Time{}, at(4), at(7), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&row{unread: c.unread, came: c.came}).unwatched(&box{born: c.born}); got != c.want {
				t.Errorf("unwatched is %v, want %v", got, c.want)
			}
		})
	}
}
