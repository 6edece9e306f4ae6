package platform

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row of the evil tenant's names the sandbox in which somebody else's task works: to end it is what P15 forbids.
func TestAnothers(t *testing.T) {
	const two = "provider lab link=id exclusive=yes\ntenants 3\ntask t1 running age=10m\ntask x1 running age=10m\n"
	for name, c := range map[string]struct {
		of     string // the task that the action is about
		ends   string // whose sandbox is ended
		breaks bool
	}{
		"its own":                        {"x1", "x1", false},
		"another's, which its row names": {"x1", "t1", true},
		"another's, for itself":          {"t1", "t1", false},
	} {
		t.Run(name, func(t *testing.T) {
			found := try(t, two, func(c2 *court) {
				does(c2.T, c2.platform, "evil x1 name t1")
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
