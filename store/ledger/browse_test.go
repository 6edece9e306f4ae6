package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// browsed is a ledger at noon with a little of everything that people ask for.
func browsed(t *testing.T) *Ledger {
	t.Helper()
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	_, err := pool.Exec(t.Context(), `
		INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, opened_at, sightings, due,
			held_by, resolved_at, incident)
		SELECT CASE WHEN i % 2 = 0 THEN 'orphan' ELSE 'errored' END, 'sandbox:daytona/sb-' || i, 'daytona', 'sb-' || i, '', 'why',
			'[]', @noon::timestamptz - (i / 3) * interval '10 minutes', 2, i % 4 > 0,
			CASE i % 4 WHEN 1 THEN ARRAY['observe'] WHEN 2 THEN ARRAY['budget: per_pass 20'] ELSE '{}' END,
			CASE WHEN i > 12 THEN @noon::timestamptz - i * interval '1 minute' END, CASE WHEN i = 3 THEN 'i-1' ELSE '' END
		FROM generate_series(1, 20) i;
		INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason, evidence,
			row_only, outcome, planned_at, closed_at, first_acted_at, begun_pass, author)
		SELECT 'a' || i, 'a' || i, 0, 1, 'orphan', 'sandbox:daytona/sb-' || i, 'daytona', 'sb-' || i, '', 'terminate', '', '[]', false,
			CASE WHEN i > 4 THEN 'confirmed' ELSE 'pending' END, @noon::timestamptz - interval '1 hour',
			CASE WHEN i > 4 THEN @noon::timestamptz - i * interval '1 minute' END,
			@noon::timestamptz - i * interval '1 minute' - i * interval '1 second', 7, CASE WHEN i = 9 THEN 'ana' ELSE '' END
		FROM generate_series(1, 12) i;
		INSERT INTO sandkeeper.task_states (id, status, state, sandbox, entry_sum, error_sum, error_changed, live, changed_at) VALUES
			('e3598f27-a234', 'running', 'running', 'box-a', 0, 0, false, true, @noon),
			('e3598f27-b000', 'completed', 'completed', 'box-b', 0, 0, false, false, @noon),
			('100%_\x', 'running', 'running', '', 0, 0, false, true, @noon);
		INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, gone_at, gone_by_us) VALUES
			('daytona', '53ca4d43', 'omoios-e3598f27', 'e3598f27-a234', 'dev', 'running', '', NULL, false),
			('daytona', '99999999', 'omoios-b0000000', 'e3598f27-b000', 'dev', 'ended', '', @noon::timestamptz - interval '2 hours', true);
		INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error, signature,
			reason, at, late_us, attempt, enforced, cost, per_hour) VALUES
			('orphan', 'sandbox:daytona/99999999', '', 'daytona', '99999999', '', '', '', '', 's1', 'x', @noon::timestamptz - interval '3 hours', 0, 0, true, 0, 0.5),
			('orphan', 'sandbox:daytona/53ca4d43', '', 'daytona', '53ca4d43', '', '', '', '', 's1', 'y', @noon::timestamptz - interval '1 hour', 0, 0, true, 0, 0.25);
		INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, opened_at, sightings, due, held_by)
			VALUES ('orphan', 'sandbox:daytona/53ca4d43', 'daytona', '53ca4d43', '', 'why', '[]', @noon::timestamptz - interval '30 hours', 2, true, '{}');
		INSERT INTO sandkeeper.incidents (id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, count, cost)
			VALUES ('i-1', 's1', 'orphan', 'daytona', 'dev', '', '', '[]', @noon, @noon::timestamptz - interval '2 hours', 2, 0);
		INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, ended_at, complete, counts)
		SELECT CASE WHEN i % 2 = 0 THEN 'full' ELSE 'quick' END, 'one', 1, @noon::timestamptz - i * interval '10 minutes',
			@noon, i <> 6, jsonb_build_object('tasks:running', i) FROM generate_series(1, 9) i;
		INSERT INTO sandkeeper.timeline (at, subject, kind, what)
		SELECT @noon::timestamptz - (i / 2) * interval '1 minute', 'rule:orphan', CASE WHEN i % 3 = 0 THEN 'state' ELSE 'operator' END, 'line ' || i
		FROM generate_series(1, 9) i`, pgx.StrictNamedArgs{"noon": atNoon()}, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// parts reads all parts of a list, each of so many rows.
func parts[T any](t *testing.T, read func(reconcile.Cursor) ([]T, reconcile.Cursor, error)) (all []T) {
	t.Helper()
	var at reconcile.Cursor
	for range 50 {
		rows, next, err := read(at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
		if next == (reconcile.Cursor{}) {
			return all
		}
		at = next
	}
	t.Fatal("the parts do not end")
	return nil
}

func TestBrowseFindings(t *testing.T) {
	g := browsed(t)
	cases := map[string]struct {
		c    reconcile.Chosen
		want string
	}{
		"open, newest first": {reconcile.Chosen{}, "sb-2 sb-1 sb-5 sb-4 sb-3 sb-8 sb-7 sb-6 sb-11 sb-10 sb-9 sb-12 53ca4d43"},
		"due and not held":   {reconcile.Chosen{State: reconcile.ChosenDue}, "sb-3 sb-7 sb-11 53ca4d43"},
		"held":               {reconcile.Chosen{State: reconcile.ChosenHeld}, "sb-2 sb-1 sb-5 sb-6 sb-10 sb-9"},
		"held by one thing":  {reconcile.Chosen{HeldBy: "budget: per_pass 20"}, "sb-2 sb-6 sb-10"},
		"held by a kind":     {reconcile.Chosen{HeldBy: "budget"}, "sb-2 sb-6 sb-10"},
		"of an order":        {reconcile.Chosen{HeldBy: "budget", Sort: "subject"}, "sb-10 sb-2 sb-6"},
		"held by a limit":    {reconcile.Chosen{HeldBy: "per_pass"}, "sb-2 sb-6 sb-10"},
		"a part of a word":   {reconcile.Chosen{HeldBy: "per_pass 2"}, ""},
		"watched":            {reconcile.Chosen{State: reconcile.ChosenWatched}, "sb-4 sb-8 sb-12"},
		"of a rule":          {reconcile.Chosen{Rule: "errored"}, "sb-1 sb-5 sb-3 sb-7 sb-11 sb-9"},
		"of a template":      {reconcile.Chosen{Template: "dev"}, "53ca4d43"},
		"of no template":     {reconcile.Chosen{Template: "de"}, ""},
		"of an incident":     {reconcile.Chosen{Incident: "i-1"}, "sb-3"},
		"resolved":           {reconcile.Chosen{State: reconcile.ChosenResolved}, "sb-13 sb-14 sb-15 sb-16 sb-17 sb-18 sb-19 sb-20"},
		"a part of an id":    {reconcile.Chosen{Text: "sb-1", State: reconcile.ChosenResolved, Rule: "orphan"}, "sb-14 sb-16 sb-18"},
		"elsewhere":          {reconcile.Chosen{Provider: "e2b"}, ""},
		"a sign of SQL":      {reconcile.Chosen{Text: "%"}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, most := range []int{1, 3, 100} {
				got := ""
				for _, f := range parts(t, func(at reconcile.Cursor) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
					c.c.After, c.c.Most = at, most
					return g.Findings(t.Context(), c.c)
				}) {
					got += " " + f.Sandbox
				}
				if diff := cmp.Diff(c.want, got[min(1, len(got)):]); diff != "" {
					t.Errorf("in parts of %d (-want +got):\n%s", most, diff)
				}
			}
		})
	}
	if _, _, err := g.Findings(t.Context(), reconcile.Chosen{After: reconcile.Cursor{At: atNoon(), Key: "x"}, Most: 1}); err == nil {
		t.Error("a cursor without a number is taken")
	}
}

// TestBrowseByTemplate: sandboxes that were made from it, their tasks, and the incidents that are about it.
func TestBrowseByTemplate(t *testing.T) {
	g := browsed(t)
	for template, want := range map[string]string{
		"dev":  "53ca4d43 | 53ca4d43 | 53ca4d43 99999999 | e3598f27-a234 e3598f27-b000 | e3598f27-a234 | i-1",
		"none": " |  |  |  |  | ",
	} {
		box := func(c reconcile.Chosen) string {
			c.Template, c.Most = template, 9
			found, _, err := g.Sandboxes(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(column(found, func(b reconcile.SandboxSeen) string { return b.ID }), " ")
		}
		task := func(c reconcile.Chosen) string {
			c.Template, c.Most = template, 9
			found, _, err := g.Tasks(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(column(found, func(b reconcile.TaskSeen) string { return b.ID }), " ")
		}
		found, _, err := g.BrowseIncidents(t.Context(), reconcile.Chosen{Template: template, Most: 9})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join([]string{
			box(reconcile.Chosen{}), box(reconcile.Chosen{Sort: "state"}), box(reconcile.Chosen{State: reconcile.ChosenAll}),
			task(reconcile.Chosen{State: reconcile.ChosenAll}), task(reconcile.Chosen{Sort: "status"}),
			strings.Join(column(found, func(i reconcile.Incident) string { return i.ID }), " "),
		}, " | ")
		if got != want {
			t.Errorf("of %s: %s, want %s", template, got, want)
		}
	}
}

func TestBrowseActions(t *testing.T) {
	g := browsed(t)
	cases := map[string]struct {
		c    reconcile.Chosen
		want string
	}{
		"open":             {reconcile.Chosen{}, "a4 a3 a2 a1"},
		"closed":           {reconcile.Chosen{State: reconcile.ChosenClosed}, "a5 a6 a7 a8 a9 a10 a11 a12"},
		"of an operator":   {reconcile.Chosen{State: reconcile.ChosenClosed, Author: "ana"}, "a9"},
		"of another step":  {reconcile.Chosen{State: reconcile.ChosenClosed, Step: reconcile.StepFail}, ""},
		"with an end":      {reconcile.Chosen{State: reconcile.ChosenClosed, Outcome: reconcile.OutcomeConfirmed, Text: "sb-1"}, "a10 a11 a12"},
		"on a pass's bill": {reconcile.Chosen{Pass: 7, Text: "no matter"}, "a1 a10 a11 a12 a2 a3 a4 a5 a6 a7 a8 a9"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, a := range parts(t, func(at reconcile.Cursor) ([]reconcile.Action, reconcile.Cursor, error) {
				c.c.After, c.c.Most = at, 3
				return g.Actions(t.Context(), c.c)
			}) {
				got += " " + a.ID
			}
			if diff := cmp.Diff(c.want, got[min(1, len(got)):]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrowseTheRest(t *testing.T) {
	g := browsed(t)
	lines := parts(t, func(at reconcile.Cursor) ([]reconcile.TimelineEvent, reconcile.Cursor, error) {
		return g.OperatorEvents(t.Context(), at, 2)
	})
	got := ""
	for _, l := range lines {
		got += l.What + ", "
	}
	if want := "line 1, line 2, line 5, line 4, line 7, line 8, "; got != want {
		t.Errorf("what operators did = %s, want %s", got, want)
	}
	passes, err := g.PassesBelow(t.Context(), 4, 2)
	if err != nil || len(passes) != 2 || passes[0].ID != 3 {
		t.Errorf("passes below 4 = %v, error %v", passes, err)
	}
	verdicts, _, err := g.NewestAffected(t.Context(), "i-1", reconcile.Cursor{}, 5)
	if err != nil || len(verdicts) != 1 || verdicts[0].Reason != "y" { // the other came before it
		t.Errorf("verdicts of the incident = %v, error %v", verdicts, err)
	}
	if _, _, err := g.NewestAffected(t.Context(), "i-2", reconcile.Cursor{}, 5); err == nil {
		t.Error("an incident that is not there has verdicts")
	}
}

func TestSearch(t *testing.T) {
	g := browsed(t)
	for text, want := range map[string]string{
		"e3598f27":       "task e3598f27-a234, sandbox 53ca4d43, task e3598f27-b000, ",
		"e3598f27-a234":  "task e3598f27-a234, ",
		"a234":           "task e3598f27-a234, ",                 // of one that lives
		"b000":           "",                                     // of one that is over
		"omoios-":        "sandbox 53ca4d43, sandbox 99999999, ", // by the platform's name
		"9999":           "sandbox 99999999, ",                   // the beginning, also of what is gone
		"i-1":            "incident i-1, ",
		"%":              "task 100%_\\x, ",
		"_\\":            "task 100%_\\x, ",
		"":               "",
		"none of this":   "",
		"' OR 1=1 --":    "",
		"\x00\xff":       "",
		"E3598F27":       "",
		"e3598f27-a234x": "",
		"\U0010FFFF":     "",
		"53ca4d43":       "sandbox 53ca4d43, ",
	} {
		found, err := g.Search(t.Context(), text, 10)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got := ""
		for _, f := range found {
			got += string(f.Type) + " " + f.ID + ", "
		}
		if got != want {
			t.Errorf("Search(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTrends(t *testing.T) {
	tr, err := browsed(t).Trends(t.Context(), time.Hour, 3)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range tr.Slots {
		got += fmt.Sprintln(s.Counts, s.Findings, s.Acted, s.Gone)
	}
	// Before the first complete pass there is nothing to draw. The sixth pass was not complete.
	want := "map[tasks:running:8] 4 0 0s\nmap[tasks:running:2] 13 8 12s\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("slots (-want +got):\n%s", diff)
	}
	if tr.Leaking != 0.25 || tr.Saved != 1 { // half a dollar for the two hours that it is gone
		t.Errorf("leaking %v, saved %v; want 0.25, 1", tr.Leaking, tr.Saved)
	}
}

// TestFiner: a young ledger is shown in short slots, as soon as each has the counts of a pass; an old one in those
// that were asked for.
func TestFiner(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		age    time.Duration
		passes int
		each   time.Duration
		slots  int
	}{
		{0, 0, shortest, 1},
		{10 * time.Minute, 150, 8 * time.Second, 76},
		{10 * time.Minute, 10, 2 * time.Minute, 6},
		{8 * time.Hour, 480, 5 * time.Minute, 96},
		{24 * time.Hour, 1440, 15 * time.Minute, 96},
		{24 * time.Hour, 24, 15 * time.Minute, 96},
	} {
		if each, slots := finer(test.age, test.passes, 15*time.Minute, 96); each != test.each || slots != test.slots {
			t.Errorf("after %s with %d passes: %d slots of %s, want %d of %s",
				test.age, test.passes, slots, each, test.slots, test.each)
		}
	}
}

// What people ask of a large ledger is found by an index.
func TestBrowsingCostsNoHistory(t *testing.T) {
	g := aged(t, 500)
	now := time.Now()
	chosen := func(more pgx.StrictNamedArgs) pgx.StrictNamedArgs {
		args := pgx.StrictNamedArgs{"rule": "", "provider": "", "text": "", "at": now, "key": int64(9), "most": 51}
		for k, v := range more {
			args[k] = v
		}
		return args
	}
	findings := pgx.StrictNamedArgs{"state": "", "template": "", "held_by": nil, "incident": ""}
	resolved := chosen(pgx.StrictNamedArgs{"template": "", "held_by": nil, "incident": ""})
	actions := chosen(pgx.StrictNamedArgs{"step": "", "outcome": "", "author": "", "key": "9"})
	tr := reconcile.Trends{From: now.Add(-24 * time.Minute), Slot: 15 * time.Second, Slots: make([]reconcile.TrendSlot, 96)}
	noScans(t, g, append(trendReadings(&tr, tr.From, now, &[]slotMoves{}),
		reading{query: "browse_findings_open", args: chosen(findings)},
		reading{query: "browse_findings_resolved", args: resolved},
		reading{query: "browse_findings_resolved_oldest", args: resolved},
		reading{query: "browse_actions_closed_oldest", args: actions},
		reading{query: "browse_actions_open", args: actions}, reading{query: "browse_actions_closed", args: actions},
		reading{query: "browse_actions_pass", args: pgx.StrictNamedArgs{"pass": 5, "key": "9", "most": 50}},
		reading{query: "browse_operators", args: pgx.StrictNamedArgs{"at": now, "key": int64(1), "most": 50}},
		reading{query: "browse_passes", args: pgx.StrictNamedArgs{"below": int64(0), "most": 50}},
		reading{query: "browse_incident_verdicts", args: pgx.StrictNamedArgs{
			"signature": "s-1", "first": now.Add(-time.Hour), "closed": stamp(time.Time{}), "at": now, "key": int64(4), "most": 9,
		}},
		reading{query: "search", args: pgx.StrictNamedArgs{"text": "sb-4711", "end": "sb-4711\U0010FFFF", "most": 50}},
	))
}

// searchTime is what a search over a million ids may take.
const searchTime = 50 * time.Millisecond

// BenchmarkSearch looks for the middle of an id among 100,000 live tasks and sandboxes and a million that are over.
func BenchmarkSearch(b *testing.B) {
	g, _ := fleet(b, 100_000)
	if _, err := g.pool.Exec(b.Context(), "VACUUM ANALYZE"); err != nil { // as autovacuum leaves them
		b.Fatal(err)
	}
	var ids, live int
	if err := g.pool.QueryRow(b.Context(), `SELECT (SELECT count(*) FROM sandkeeper.task_states) + count(*),
		(SELECT count(*) FROM sandkeeper.task_states WHERE live) + count(*) FILTER (WHERE gone_at IS NULL)
		FROM sandkeeper.sandboxes`).Scan(&ids, &live); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		found, err := g.Search(b.Context(), "99123", 50)
		if took = append(took, time.Since(began)); err != nil || len(found) == 0 {
			b.Fatalf("%d found, error %v", len(found), err)
		}
	}
	slices.Sort(took)
	half := took[len(took)/2]
	fmt.Printf("the middle of an id among %d ids, %d of them live: %s, the median of %d (%.2f of the %s that it may take)\n",
		ids, live, half.Round(time.Microsecond), len(took), half.Seconds()/searchTime.Seconds(), searchTime)
	b.ReportMetric(half.Seconds()/searchTime.Seconds(), "search-bar-ratio")
}
