package web

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		o        reconcile.Overview
		level    level
		word     string
		sentence string
		command  string
	}{
		"all is well": {healthy(), well, "In agreement",
			"All 212 live tasks and 214 sandboxes agree. Last full pass 12 s ago.", ""},
		"no task table": {with(healthy(), func(o *reconcile.Overview) {
			for key := range o.Counts {
				if strings.HasPrefix(key, "tasks:") {
					delete(o.Counts, key)
				}
			}
		}), well, "In agreement", "All 214 sandboxes are as they should be. Last full pass 12 s ago.", ""},
		"no listing yet": {with(healthy(), func(o *reconcile.Overview) {
			o.LastFull = time.Time{}
			delete(o.Counts, "owned:daytona")
		}), well, "In agreement", "All 212 live tasks are as they should be. The first full pass is still to come.", ""},
		"one of each": {with(emptyWorld(), func(o *reconcile.Overview) {
			o.Counts["tasks:running"], o.Counts["owned:daytona"] = 1, 1
		}), well, "In agreement", "All 1 live task and 1 sandbox agree. Last full pass 1 s ago.", ""},
		"no schema": {reconcile.Overview{Now: noon, Fresh: true}, bad, "Not set up",
			"The ledger has no schema yet: nothing is being kept in agreement.", "sandkeeper migrate"},
		"never ran": {reconcile.Overview{Now: noon}, bad, "Never ran",
			"No pass was ever complete: nothing is being kept in agreement.", ""},
		"the first pass is under way": {startingWorld(), busy, "Starting", "The first pass began 3 s ago.", ""},
		"the first pass never ended": {with(startingWorld(), func(o *reconcile.Overview) { o.Now = noon.Add(57 * time.Second) }),
			bad, "Never ran", "No pass was ever complete: nothing is being kept in agreement.", ""},
		"the first pass failed": {with(startingWorld(), func(o *reconcile.Overview) {
			o.Passes[0].EndedAt, o.Passes[0].Error = noon, "list daytona: 401"
		}), bad, "Never ran", "No pass was ever complete. The last one: list daytona: 401.", ""},
		"stale": {worlds()["stale"].Overview, bad, "Not running",
			"No complete pass for 6 min 3 s: nothing is being kept in agreement.", ""},
		"full passes are missing": {with(healthy(), func(o *reconcile.Overview) { o.LastFull = back(7 * time.Minute) }), bad,
			"Full passes missing", "No complete full pass for 7 min: what only a listing shows, like orphans, is not found.", ""},
		"the last pass is not complete": {worlds()["incomplete"].Overview, bad, "Not complete",
			"The last full pass was not complete: list daytona: 503 Service Unavailable.", ""},
		"a source is not trusted": {worlds()["frozen"].Overview, warn, "Frozen", "The listing of daytona is not trusted: " +
			"the listing lost 150 of 214 sandboxes, but sb-3, got by id, is running.", ""},
		"two are not": {with(worlds()["frozen"].Overview, func(o *reconcile.Overview) { o.Sources[4].Trusted = false }), warn, "Frozen",
			"The listing of daytona is not trusted: the listing lost 150 of 214 sandboxes, but sb-3, got by id, is running. " +
				"1 source besides is not trusted.", ""},
		"a clock that is not trusted holds nothing": {with(healthy(), func(o *reconcile.Overview) {
			o.Sources = append(o.Sources, reconcile.SourceSeen{Name: "clock:updated_at"})
		}), well, "In agreement", "All 212 live tasks and 214 sandboxes agree. Last full pass 12 s ago.", ""},
		"a breaker is open": {worlds()["breaker"].Overview, warn, "Breaker open",
			"Orphan would act on 5 subjects at once, which is too many: a person has to release them.",
			"sandkeeper release orphan --hash 2f9k1"},
		"a template is inactive": {worlds()["template"].Overview, warn, "Needs a person",
			`Snapshot "ai-agent-dev-heavy" is inactive, last successful start from it 2026-01-17 12:00:00.`, ""},
		"held": {worlds()["held"].Overview, warn, "Held", "4 findings are due and held.", ""},
		"held, and more were not read": {with(worlds()["held"].Overview, func(o *reconcile.Overview) { o.FindingsOpen["orphan"] = 900 }),
			warn, "Held", "At least 4 findings are due and held.", ""},
		"observing":   {heldWorld(), warn, "Observing", "4 findings would be repaired, but the rules only observe.", ""},
		"unconfirmed": {worlds()["unconfirmed"].Overview, warn, "Not confirmed", "1 sandbox is still there; the provider accepted to end it 5 min ago.", ""},
		"repairing":   {worlds()["repairing"].Overview, busy, "Repairing", "7 repair steps are under way.", ""},
		"watching": {with(heldWorld(), func(o *reconcile.Overview) {
			o.Findings, o.FindingsOpen = o.Findings[:1], map[string]int{"orphan": 1}
		}), well, "Watching", "Nothing is due. 1 suspicion is being watched. Last full pass 12 s ago.", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := judge(newScene(&c.o, options().Policy()))
			if got.Level != c.level || got.Word != c.word || got.Sentence != c.sentence || got.Command != c.command {
				t.Errorf("judge =\n%s %q %q %q, want\n%s %q %q %q",
					got.Level, got.Word, got.Sentence, got.Command, c.level, c.word, c.sentence, c.command)
			}
		})
	}
}

// TestOrderOfBadness makes everything wrong and repairs the worst thing, one after the other.
func TestOrderOfBadness(t *testing.T) {
	o := with(with(with(with(heldWorld(), freeze), repair), linger), spoil)
	held := heldWorld()
	o.Findings = append(o.Findings, held.Findings...)
	o.FindingsOpen = map[string]int{"orphan": 9}
	trip(&held)
	o.Controls = held.Controls
	breakPass(&o)
	lastPass := o.LastPass
	o.LastPass, o.Fresh = time.Time{}, true
	steps := []struct {
		word   string
		repair func()
	}{
		{"Not set up", func() { o.Fresh = false }},
		{"Never ran", func() { o.LastPass = back(time.Hour) }},
		{"Not running", func() { o.LastPass = lastPass }},
		{"Not complete", func() { o.Passes[1].Complete = true }},
		{"Frozen", func() { o.Sources = nil }},
		{"Breaker open", func() { o.Controls.Breakers = nil }},
		{"Needs a person", func() { o.Findings = held.Findings[:4] }},
		{"Held", func() { o.Findings = nil }},
		{"Not confirmed", func() { o.Open[0].ActedAt = noon }},
		{"Repairing", func() { o.Open, o.OpenTotal = nil, 0 }},
		{"Watching", func() { o.FindingsOpen = nil }},
		{"In agreement", func() {}},
	}
	for _, step := range steps {
		if got := judge(newScene(&o, options().Policy())); got.Word != step.word {
			t.Fatalf("judge = %q %q, want %q", got.Word, got.Sentence, step.word)
		}
		step.repair()
	}
}

func TestIncomplete(t *testing.T) {
	cases := map[string]struct {
		passes string // newest first; a capital is not complete
		want   reconcile.PassKind
	}{
		"none":                              {"", ""},
		"complete":                          {"qqfq", ""},
		"one that never ended says nothing": {"-qf", ""},
		"the newest quick":                  {"Qqf", reconcile.Quick},
		"the newest full, after a quick":    {"qFf", reconcile.Full},
		"an older quick is over":            {"qQf", ""},
		"a full pass is a quick one too":    {"fQF", ""},
		"full, all of them":                 {"FF", reconcile.Full},
		"a quick one before the full":       {"qQF", reconcile.Full},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			passes := passesOf(strings.ToLower(c.passes))
			for i := range passes {
				passes[i].Complete = c.passes[i] >= 'a'
			}
			got, ok := lastIncomplete(passes)
			if got.Kind != c.want || ok != (c.want != "") {
				t.Errorf("lastIncomplete = %q %v, want %q", got.Kind, ok, c.want)
			}
		})
	}
}

func TestUnknownSaysWhy(t *testing.T) {
	got := unknown(errors.New("dial tcp: refused\x1b[0m"))
	if got.Level != bad || !strings.HasSuffix(got.Sentence, "is not known: dial tcp: refused [0m.") {
		t.Errorf("unknown = %+v", got)
	}
}
