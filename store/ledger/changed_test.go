package ledger

import "testing"

// TestChanged: what a pass, an operator or an action writes is told, and nothing else is.
func TestChanged(t *testing.T) {
	g := browsed(t)
	last := ""
	for _, step := range []struct {
		does string
		sql  string
		new  bool
	}{
		{"at first", "SELECT", true}, {"nothing", "SELECT", false},
		{"a pass begins", "INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, complete) VALUES ('quick', 'one', 1, now(), false)", true},
		{"it ends", "UPDATE sandkeeper.passes SET ended_at = now() WHERE ended_at IS NULL", true},
		{"an operator asks", "INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (now(), 'task:1', 'operator', 'hold')", true},
		{"nothing again", "SELECT", false},
	} {
		if _, err := g.pool.Exec(t.Context(), step.sql); err != nil {
			t.Fatal(err)
		}
		got, err := g.Changed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (got != last) != step.new {
			t.Errorf("%s: %q after %q", step.does, got, last)
		}
		last = got
	}
}
