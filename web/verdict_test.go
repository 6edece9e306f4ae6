package web

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/fleet"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		o        reconcile.Overview
		level    ui.Level
		word     string
		sentence string
		command  string
	}{
		"all is well": {webtest.Healthy(), ui.Well, "In agreement",
			"212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"two could not be looked at": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Counts["look_failed:daytona"] = 2 }),
			ui.Warn, "Not known", "2 suspects could not be looked at, for the looks at daytona failed: whether they are well is not " +
				"known. Last full pass 12s ago.", "sandkeeper check"},
		"no task table": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			for key := range o.Counts {
				if strings.HasPrefix(key, "tasks:") {
					delete(o.Counts, key)
				}
			}
		}), ui.Well, "In agreement", "All 214 sandboxes are as they should be. Last full pass 12s ago.", ""},
		"no listing yet": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.LastFull = time.Time{}
			delete(o.Counts, "owned:daytona")
		}), ui.Well, "In agreement", "All 212 live tasks are as they should be. The first full pass is still to come.", ""},
		"one of each": {webtest.With(webtest.Empty(), func(o *reconcile.Overview) {
			o.Counts["tasks:running"], o.Counts["owned:daytona"] = 1, 1
		}), ui.Well, "In agreement", "The live task and its sandbox agree. Last full pass 1s ago.", ""},
		"no schema": {reconcile.Overview{Now: webtest.Noon, Fresh: true}, ui.Bad, "Not set up",
			"The ledger has no schema yet: nothing is being kept in agreement.", "sandkeeper migrate"},
		"never ran": {reconcile.Overview{Now: webtest.Noon}, ui.Bad, "Never ran",
			"No pass was ever complete: nothing is being kept in agreement.", ""},
		"the first pass is under way": {webtest.Starting(), ui.Busy, "Starting", "The first pass began 3s ago.", ""},
		"the first pass never ended": {webtest.With(webtest.Starting(), func(o *reconcile.Overview) { o.Now = webtest.Noon.Add(57 * time.Second) }),
			ui.Bad, "Never ran", "No pass was ever complete: nothing is being kept in agreement.", ""},
		"the first pass failed": {webtest.With(webtest.Starting(), func(o *reconcile.Overview) {
			o.Passes[0].EndedAt, o.Passes[0].Error = webtest.Noon, "list daytona: 401"
		}), ui.Bad, "Never ran", "No pass was ever complete. The last one: list daytona: 401.", ""},
		"stale": {webtest.Worlds()["stale"].Overview, ui.Bad, "Not running",
			"No complete pass for 6m3s: nothing is being kept in agreement.", ""},
		"full passes are missing": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.LastFull = webtest.Ago(7 * time.Minute) }), ui.Bad,
			"Full passes missing", "No complete full pass for 7m: what only a listing shows, like orphans, is not found.", ""},
		"the last pass is dated in the future": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.LastPass, o.LastFull = webtest.Noon.Add(time.Hour), webtest.Noon.Add(time.Hour)
		}), ui.Bad, "Clock set back", "The last complete pass is dated 1h in the future: the ledger's clock was set back.", ""},
		"the last full pass is": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.LastFull = webtest.Noon.Add(time.Hour) }), ui.Bad,
			"Clock set back", "The last complete full pass is dated 1h in the future: the ledger's clock was set back.", ""},
		"a listing failed": {webtest.With(webtest.Healthy(), webtest.FailListing), ui.Warn, "Frozen",
			"Cannot list the sandboxes of daytona: GET /sandbox: 500 Internal Server Error. Its findings are frozen.", "sandkeeper check"},
		"another source failed the pass": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			webtest.FailListing(o)
			o.Passes[1].Error = "read tasks: connection refused"
		}), ui.Bad, "Not complete", "The last full pass was not complete: read tasks: connection refused.", ""},
		"a listing misses regions": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Sources[2].Trusted, o.Sources[2].Reason = false, reconcile.ListingCut([]string{"us-east"})
		}), ui.Warn, "Frozen", "The listing of daytona is not complete (us-east not read). Findings of daytona are frozen.", "sandkeeper check"},
		"events are many": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Sources[0].Trusted, o.Sources[0].Reason = false, reconcile.Said("12 tasks run and none was heard for 2m")
		}), ui.Warn, "Frozen", "The workers' events are not trusted: 12 tasks run and none was heard for 2m.", ""},
		"an id of somebody else is cut": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Sources[4].Trusted, o.Sources[4].Reason = false, reconcile.Said("task 8c02ffe6-26b9-4d6e-9f0a-0123456789ab is gone")
		}), ui.Warn, "Frozen", "The task table is not trusted: task 8c02ffe6… is gone.", ""},
		"a status is not mapped": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Counts["tasks:unknown"] = 900 }), ui.Warn, "Not known",
			"900 tasks have a status that the config does not map; nothing is done about them.", ""},
		"and a state is not known": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Counts["tasks:unknown"], o.Counts["sandboxes:daytona:unknown"] = 1, 1
		}), ui.Warn, "Not known", "1 task has a status that the config does not map; nothing is done about it. " +
			"1 sandbox is in a state that sandkeeper does not know; nothing is done about it.", ""},
		"none is unknown": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Counts["tasks:unknown"] = 0 }), ui.Well, "In agreement",
			"212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"the listing of a provider that left": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Sources = append(o.Sources, reconcile.SourceSeen{Name: "listing:old", Reason: reconcile.ListingFailed("gone")})
		}), ui.Well, "In agreement", "212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"a person holds all of them": {webtest.With(webtest.Held(), func(o *reconcile.Overview) {
			for i := range o.Findings {
				o.Findings[i].HeldBy = reconcile.HeldByOf("observe", "hold: label:team=a (looking into it) by ana")
			}
		}), ui.Set, "Held", "4 findings are due and held by ana: looking into it.", ""},
		"the provider refuses": {webtest.With(webtest.With(webtest.Healthy(), webtest.Repair), webtest.Refuse), ui.Warn, "Waiting",
			"1 repair step waits: refused by the provider, tried again at 12:30 UTC. 6 more are under way.", ""},
		"the last pass is not complete": {webtest.Worlds()["incomplete"].Overview, ui.Bad, "Not complete",
			"The last full pass was not complete: list daytona: 503 Service Unavailable.", ""},
		"a source is not trusted": {webtest.Worlds()["frozen"].Overview, ui.Warn, "Frozen", "The listing of daytona lost 150 of 214 sandboxes. " +
			"Findings of daytona are frozen.", ""},
		"two are not": {webtest.With(webtest.Worlds()["frozen"].Overview, func(o *reconcile.Overview) { o.Sources[4].Trusted = false }), ui.Warn, "Frozen",
			"The task table is not trusted. 1 source besides is not trusted.", ""},
		"the widest of two comes first": {webtest.With(webtest.Worlds()["frozen"].Overview, func(o *reconcile.Overview) {
			o.Sources[0].Trusted, o.Sources[0].Reason = false, reconcile.Said("nobody was heard")
		}), ui.Warn, "Frozen", "The listing of daytona lost 150 of 214 sandboxes. Findings of daytona are frozen. " +
			"1 source besides is not trusted.", ""},
		"one of two listings fails for long": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			webtest.FailListing(o)
			o.LastFull = webtest.Ago(7 * time.Minute)
		}), ui.Bad, "Full passes missing", "No complete full pass for 7m, for want of the listing of daytona. " +
			"What only that shows, like orphans, is not found.", "sandkeeper check"},
		"a clock that is not trusted holds nothing": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Sources = append(o.Sources, reconcile.SourceSeen{Name: "clock:updated_at"})
		}), ui.Well, "In agreement", "212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"a breaker is open": {webtest.Worlds()["breaker"].Overview, ui.Warn, "Circuit breaker open",
			"Orphan wants to act on 5 subjects at once: 5 due of a fleet of 14 exceed 30%.", ""},
		"a breaker is open, and what it holds was not read": {webtest.With(webtest.Worlds()["breaker"].Overview,
			func(o *reconcile.Overview) { o.Findings = nil }), ui.Warn, "Circuit breaker open",
			"Orphan wants to act on 5 subjects at once, more than its limit.", ""},
		"a template is inactive": {webtest.Worlds()["template"].Overview, ui.Bad, "Needs attention",
			`Snapshot "ai-agent-dev-heavy" is inactive, last successful start from it 2026-01-17 12:00:00.`, ""},
		"held": {webtest.Worlds()["held"].Overview, ui.Warn, "Held", "4 findings are due and held: 2 because the rule only observes, 1 by a pause of ana: drill, 1 by the budget: per_pass 20.", ""},
		"held, and more were not read": {webtest.With(webtest.Worlds()["held"].Overview, func(o *reconcile.Overview) { o.FindingsOpen["orphan"] = 900 }),
			ui.Warn, "Held", "At least 4 findings are due and held: 2 because the rule only observes, 1 by a pause of ana: drill, 1 by the budget: per_pass 20.", ""},
		"an incident": {webtest.Worlds()["incident"].Overview, ui.Bad, "Incident", "37 tasks failed to start within 53m: " +
			`snapshot "ai-agent-dev-heavy" is inactive at daytona; last successful start from it 2026-01-17 12:00:00 (likely cause).`, "sandkeeper affected i-3k9f2"},
		"a released one stays an incident": {webtest.Worlds()["released"].Overview, ui.Bad, "Incident", "37 tasks failed to start within 53m: " +
			`snapshot "ai-agent-dev-heavy" is inactive at daytona; last successful start from it 2026-01-17 12:00:00 (likely cause).`, "sandkeeper affected i-3k9f2"},
		"two incidents, the one that holds first": {webtest.With(webtest.Worlds()["released"].Overview, func(o *reconcile.Overview) {
			o.Incidents = append(o.Incidents, reconcile.Incident{ID: "i-2", Rule: "errored", Count: 5, FirstSeen: webtest.Ago(time.Minute), LastSeen: webtest.Noon})
		}), ui.Bad, "Incident", "5 failures of errored within 1m. No likely cause was found. 1 incident more.", "sandkeeper affected i-2"},
		"a closed one is over": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Incidents = webtest.Incident().Incidents[1:] }), ui.Well, "In agreement",
			"212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"a script in a loop": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Counts["owned:daytona"] += 40 }), ui.Well, "Nothing due",
			"212 live tasks and 254 sandboxes: 42 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"a task that an operator has to look at": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			f := reconcile.FindingSeen{OpenedAt: webtest.Ago(time.Minute)}
			f.Rule, f.Subject, f.Task, f.Due, f.Reason = "pending-stuck", "task:t-77", "t-77", true, "nothing picks it up: pending for 10m"
			o.Findings, o.FindingsOpen = []reconcile.FindingSeen{f}, map[string]int{"pending-stuck": 1}
		}), ui.Warn, "Needs attention", "Task t-77: nothing picks it up: pending for 10m.", ""},
		"a rule lowered itself": {webtest.Worlds()["demoted"].Overview, ui.Bad, "Rule lowered itself", "Assigned-stale was wrong too often and only observes now: " +
			"3 of its last 81 verdicts came back to life, more than 2 %.", "sandkeeper mode assigned-stale clear"},
		"a person lowered it": {webtest.With(webtest.Worlds()["demoted"].Overview, func(o *reconcile.Overview) { delete(o.Controls.Modes, "assigned-stale") }),
			ui.Well, "In agreement", "212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"only a quarantine": {webtest.With(webtest.Worlds()["quarantine"].Overview, func(o *reconcile.Overview) { o.Open, o.OpenTotal = o.Open[:1], 1 }),
			ui.Well, "In agreement", "212 live tasks and 214 sandboxes: 2 sandboxes more than tasks, none due. Last full pass 12s ago.", ""},
		"a quarantine, and one begins": {webtest.Worlds()["quarantine"].Overview, ui.Busy, "Repairing", "2 repair steps are under way.", ""},
		"a quarantine of what is still found": {webtest.With(webtest.Worlds()["quarantine"].Overview, func(o *reconcile.Overview) {
			o.Open, o.OpenTotal = o.Open[:1], 1
			found(o, &o.Open[0])
		}), ui.Well, "In quarantine", "Nothing else is due. What is wrong with 1 finding is in quarantine, and can be brought back. " +
			"Last full pass 12s ago.", ""},
		"acted on since it was found": {webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Recent = []reconcile.Action{{Subject: "sandbox:daytona/sb-1", ClosedAt: webtest.Noon}}
			found(o, &o.Recent[0])
		}), ui.Busy, "Acted on", "1 finding was acted on; the next pass looks again. Last full pass 12s ago.", ""},
		"observing":   {webtest.Held(), ui.Set, "Observing", "4 findings would be repaired, but the rules only observe.", ""},
		"unconfirmed": {webtest.Worlds()["unconfirmed"].Overview, ui.Bad, "Not confirmed", "1 sandbox is still there; the provider accepted its termination 5m ago.", ""},
		"repairing":   {webtest.Worlds()["repairing"].Overview, ui.Busy, "Repairing", "7 repair steps are under way.", ""},
		"watching": {webtest.With(webtest.Held(), func(o *reconcile.Overview) {
			o.Findings, o.FindingsOpen = o.Findings[:1], map[string]int{"orphan": 1}
		}), ui.Well, "Watching", "Nothing is due. 1 suspicion is being watched. Last full pass 12s ago.", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := judge(newScene(&c.o, webtest.Policy(), nil))
			if got.Level != c.level || got.Word != c.word || got.Sentence != c.sentence || got.Command != c.command {
				t.Errorf("judge =\n%s %q %q %q, want\n%s %q %q %q",
					got.Level, got.Word, got.Sentence, got.Command, c.level, c.word, c.sentence, c.command)
			}
		})
	}
}

// found adds the due finding that a step is for.
func found(o *reconcile.Overview, a *reconcile.Action) {
	f := webtest.Held().Findings[0]
	f.Subject, f.Task, f.Provider, f.Sandbox = a.Subject, a.Task, a.Provider, a.Sandbox
	f.Due, f.HeldBy, f.LastSeen = true, nil, webtest.Ago(time.Minute)
	o.Findings, o.FindingsOpen = []reconcile.FindingSeen{f}, map[string]int{f.Rule: 1}
}

// TestOrderOfBadness makes everything wrong and repairs the worst thing, one after the other.
func TestOrderOfBadness(t *testing.T) {
	o := webtest.With(webtest.With(webtest.With(webtest.With(webtest.Held(), webtest.Freeze), webtest.Repair), webtest.Linger), webtest.Spoil)
	held := webtest.Held()
	o.Findings = append(o.Findings, held.Findings...)
	o.FindingsOpen = map[string]int{"orphan": 9}
	webtest.Trip(&held)
	o.Controls = held.Controls
	webtest.BreakPass(&o)
	webtest.Refuse(&o)
	o.Counts["tasks:unknown"] = 1
	lastPass := o.LastPass
	o.LastPass, o.Fresh = time.Time{}, true
	webtest.Demote(&o)
	o.Controls.Breakers = held.Controls.Breakers
	o.Incidents = webtest.Incident().Incidents
	steps := []struct {
		word   string
		repair func()
	}{
		{"Not set up", func() { o.Fresh = false }},
		{"Never ran", func() { o.LastPass = webtest.Ago(time.Hour) }},
		{"Not running", func() { o.LastPass = lastPass }},
		{"Not complete", func() { o.Passes[1].Complete = true }},
		{"Rule lowered itself", func() { o.Controls.Lowered, o.Controls.Modes = nil, nil }},
		{"Incident", func() { o.Incidents = nil }},
		{"Needs attention", func() { o.Findings = held.Findings[:4] }},
		{"Not confirmed", func() { o.Open[0].ActedAt = webtest.Noon }},
		{"Frozen", func() { o.Sources = nil }},
		{"Circuit breaker open", func() { o.Controls.Breakers = nil }},
		{"Held", func() { o.Findings = nil }},
		{"Waiting", func() { o.Open[1].Attempts, o.Open[1].NextAttempt = 0, time.Time{} }},
		{"Not known", func() { delete(o.Counts, "tasks:unknown") }},
		{"Repairing", func() { o.Open, o.OpenTotal = nil, 0 }},
		{"Watching", func() { o.FindingsOpen = nil }},
		{"In agreement", func() {}},
	}
	for _, step := range steps {
		if got := judge(newScene(&o, webtest.Policy(), nil)); got.Word != step.word {
			t.Fatalf("judge = %q %q, want %q", got.Word, got.Sentence, step.word)
		}
		step.repair()
	}
}

// TestVerdictWithoutTasks: nobody can know which sandboxes are needed.
func TestVerdictWithoutTasks(t *testing.T) {
	p := webtest.Policy()
	p.Tasks = reconcile.TasksPolicy{None: true}
	for n, want := range map[int]string{
		214: "214 sandboxes are there and not broken. Without a task table sandkeeper cannot know which are needed. Last full pass 1s ago.",
		1:   "1 sandbox is there and not broken. Without a task table sandkeeper cannot know which are needed. Last full pass 1s ago.",
	} {
		o := webtest.With(webtest.Empty(), func(o *reconcile.Overview) {
			o.Counts = map[string]int{"owned:daytona": n}
			o.Sources = []reconcile.SourceSeen{{Name: "tasks"}, {Name: "link"}, {Name: "events"}} // of a day with tasks
		})
		if got := judge(newScene(&o, p, nil)); got.Level != ui.Well || got.Sentence != want {
			t.Errorf("judge = %s %q, want %q", got.Level, got.Sentence, want)
		}
	}
}

// TestNextForTemplates: the verdict names the next step.
func TestNextForTemplates(t *testing.T) {
	for state, want := range map[reconcile.TemplateState]string{
		reconcile.TemplateInactive: "Activate it at daytona: ",
		reconcile.TemplateActive:   "Start a sandbox from it at daytona, ",
		reconcile.TemplateFailed:   "Rebuild it at daytona, ",
		reconcile.TemplateMissing:  "Rebuild it at daytona, ",
	} {
		o := webtest.With(webtest.Healthy(), webtest.Spoil)
		o.Templates[1].State = state
		if got := judge(newScene(&o, webtest.Policy(), nil)); !strings.HasPrefix(got.Next, want) {
			t.Errorf("%s: next %q, want %q", state, got.Next, want)
		}
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
			passes := webtest.PassesOf(strings.ToLower(c.passes))
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
	if got.Level != ui.Bad || !strings.HasSuffix(got.Sentence, "is unknown: dial tcp: refused [0m.") {
		t.Errorf("unknown = %+v", got)
	}
}

// TestLeakingIsOfWhatIsFound: the trends are older than the findings; where nothing is found any more, nothing leaks.
func TestLeakingIsOfWhatIsFound(t *testing.T) {
	trend := &fleet.Trend{Trends: &reconcile.Trends{Leaking: 1.6, Slot: time.Minute, Slots: make([]reconcile.TrendSlot, 3)}}
	for open, want := range map[int]string{0: "$0 /h", 20: "$1.60 /h"} {
		if got := moneyCard(trend, open).Value; got != want {
			t.Errorf("with %d findings %s leak, want %s", open, got, want)
		}
	}
}
