package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestTokens: a secret is shown once, kept as a hash alone, and counts until its end or until somebody takes it back.
func TestTokens(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	by := reconcile.Attribution{Author: "ana", Reason: "why"}
	wanted := reconcile.Token{User: "ben", Scope: reconcile.TokenReads, Author: "ana", Reason: "why", Until: atNoon().Add(time.Hour)}
	secret, made, err := g.CreateToken(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.TokenShown(t.Context(), secret)
	if err != nil || got.User != "ben" || got.Scope != reconcile.TokenReads || got.ID != made.ID {
		t.Errorf("shown = %+v, %v", got, err)
	}
	var kept string
	if err := pool.QueryRow(t.Context(), "SELECT string_agg(t::text, ' ') FROM sandkeeper.tokens t").Scan(&kept); err != nil ||
		strings.Contains(kept, secret) || strings.Contains(kept, strings.Split(secret, "_")[2]) {
		t.Errorf("the ledger keeps %s, %v", kept, err)
	}
	for name, shown := range map[string]string{
		"nothing": "", "another secret": secret + "x", "the hash": got.Hash, "its id alone": "sandkeeper_" + made.ID + "_", "a long one": secret + strings.Repeat("x", 200),
		"NUL": "sandkeeper_\x00_x",
	} {
		if found, err := g.TokenShown(t.Context(), shown); !errors.Is(err, reconcile.ErrNotFound) {
			t.Errorf("%s: %+v, %v; want it to count for nothing", name, found, err)
		}
	}
	later := NewLedger(pool, Options{Installation: "test", Clock: func() time.Time { return atNoon().Add(time.Hour) }})
	if _, err := later.TokenShown(t.Context(), secret); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("at its end: %v", err)
	}
	if err := g.RevokeToken(t.Context(), made.ID, by); err != nil {
		t.Fatal(err)
	}
	if _, err := g.TokenShown(t.Context(), secret); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("revoked: %v", err)
	}
	if err := g.RevokeToken(t.Context(), made.ID, by); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
	if list, err := g.Tokens(t.Context()); err != nil || len(list) != 1 || list[0].Revoked.IsZero() {
		t.Errorf("listed = %+v, %v", list, err)
	}
	for name, wrong := range map[string]reconcile.Token{
		"for nobody": {Scope: reconcile.TokenReads, Until: atNoon().Add(time.Hour)}, "for what is none": {User: "a", Scope: "all", Until: atNoon().Add(time.Hour)},
		"for ever": {User: "a", Scope: reconcile.TokenReads}, "for too long": {User: "a", Scope: reconcile.TokenReads, Until: atNoon().Add(reconcile.TokenMost + 1)},
		"for the past": {User: "a", Scope: reconcile.TokenReads, Until: atNoon()},
	} {
		wrong.Author, wrong.Reason = "ana", "why"
		if secret, _, err := g.CreateToken(t.Context(), wrong); err == nil {
			t.Errorf("%s: %s is made", name, secret)
		}
	}
}

// TestForgedTokens: with an operator key, a token counts as it was made by who has it, and not otherwise.
func TestForgedTokens(t *testing.T) {
	a := newAttacked(t)
	wanted := reconcile.Token{User: "ben", Scope: reconcile.TokenReads, Author: "ana", Reason: "why", Until: atNoon().Add(time.Hour)}
	forged, _, err := a.plain.CreateToken(t.Context(), wanted)
	a.must(err)
	if _, err := a.keyed.TokenShown(t.Context(), forged); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("without the key: %v", err)
	}
	for _, change := range []string{"", "scope = 'act'", "token_user = 'ana'", "until = until + interval '1 day'", "hash = 'x'", "at = at + interval '1 s'",
		"author = 'x'", "reason = 'x'", "seal = 'eA'"} {
		secret, made, err := a.keyed.CreateToken(t.Context(), wanted)
		a.must(err)
		if change != "" {
			a.exec("UPDATE sandkeeper.tokens SET "+change+" WHERE id = $1", made.ID)
		}
		if _, err := a.keyed.TokenShown(t.Context(), secret); (err == nil) != (change == "") {
			t.Errorf("changed by %q: %v", change, err)
		}
	}
}

// TestBrowseTheWorld: tasks and sandboxes are read in parts, as somebody chose them.
func TestBrowseTheWorld(t *testing.T) {
	g := browsed(t)
	tasks := func(c reconcile.Chosen) (ids string) {
		c.Most = 1
		for _, task := range parts(t, func(at reconcile.Cursor) ([]reconcile.TaskSeen, reconcile.Cursor, error) {
			c.After = at
			return g.Tasks(t.Context(), c)
		}) {
			ids += task.ID + " "
		}
		return ids
	}
	boxes := func(c reconcile.Chosen) (ids string) {
		c.Most = 1
		for _, box := range parts(t, func(at reconcile.Cursor) ([]reconcile.SandboxSeen, reconcile.Cursor, error) {
			c.After = at
			return g.Sandboxes(t.Context(), c)
		}) {
			ids += box.ID + " "
		}
		return ids
	}
	for name, c := range map[string]struct {
		chosen       reconcile.Chosen
		tasks, boxes string
	}{
		"what lives":          {reconcile.Chosen{}, `100%_\x e3598f27-a234 `, "53ca4d43 "},
		"all":                 {reconcile.Chosen{State: "all"}, `100%_\x e3598f27-a234 e3598f27-b000 `, "53ca4d43 99999999 "},
		"gone":                {reconcile.Chosen{State: "gone"}, "", "99999999 "},
		"running":             {reconcile.Chosen{State: "running"}, `100%_\x e3598f27-a234 `, "53ca4d43 "},
		"by a part of an id":  {reconcile.Chosen{State: "all", Text: "a234"}, "e3598f27-a234 ", "53ca4d43 "},
		"by a part of a name": {reconcile.Chosen{State: "all", Text: "omoios-b"}, "", "99999999 "},
		"what is no pattern":  {reconcile.Chosen{Text: "%_"}, `100%_\x `, ""},
		"NUL":                 {reconcile.Chosen{Text: "a234\x00"}, "e3598f27-a234 ", "53ca4d43 "},
	} {
		if got := tasks(c.chosen); got != c.tasks {
			t.Errorf("%s: tasks %q, want %q", name, got, c.tasks)
		}
		if got := boxes(c.chosen); got != c.boxes {
			t.Errorf("%s: sandboxes %q, want %q", name, got, c.boxes)
		}
	}
	if got := boxes(reconcile.Chosen{Provider: "e2b", State: "all"}); got != "" {
		t.Errorf("sandboxes of another provider: %q", got)
	}
	if a, err := g.Action(t.Context(), "a9"); err != nil || a.Author != "ana" {
		t.Errorf("action a9 = %+v, %v", a, err)
	}
	if _, err := g.Action(t.Context(), "none"); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("no action: %v", err)
	}
	if totals, err := g.SandboxTotals(t.Context()); err != nil || totals["running"] != 1 || totals["gone"] != 1 || len(totals) != 2 {
		t.Errorf("totals %v, %v", totals, err)
	}
}
