package web

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// process only shows.
func process() Process { return Process{Version: "v1.2.3", Policy: webtest.Policy()} }

func sceneOf(o reconcile.Overview) *model { return newScene(&o, webtest.Policy(), nil) }

func TestStateOfFinding(t *testing.T) {
	finding := reconcile.Finding{Rule: "orphan", Subject: "sandbox:daytona/sb-1", Provider: "daytona", Sandbox: "sb-1", Task: "7", Due: true}
	cases := map[string]struct {
		finding func(*reconcile.Finding)
		open    []reconcile.Action
		recent  []reconcile.Action
		want    state
	}{
		"not due":                  {finding: func(f *reconcile.Finding) { f.Due = false }, want: watched},
		"not due, though held":     {finding: func(f *reconcile.Finding) { f.Due, f.HeldBy = false, reconcile.HeldByOf("observe") }, want: watched},
		"due and held":             {finding: func(f *reconcile.Finding) { f.HeldBy = reconcile.HeldByOf("observe") }, want: heldBack},
		"due, and nobody repairs":  {want: reported},
		"an action on its subject": {open: []reconcile.Action{{Subject: "sandbox:daytona/sb-1"}}, want: underWay},
		"an action on its task":    {open: []reconcile.Action{{Subject: "x", Task: "7"}}, want: underWay},
		"an action on its sandbox": {open: []reconcile.Action{{Subject: "x", Provider: "daytona", Sandbox: "sb-1"}}, want: underWay},
		"an action on the same id elsewhere": {open: []reconcile.Action{{Subject: "x", Provider: "e2b", Sandbox: "sb-1"}},
			want: reported},
		"it was acted on":                   {recent: []reconcile.Action{{Subject: "sandbox:daytona/sb-1"}}, want: awaited},
		"it was acted on, and it is held":   {finding: func(f *reconcile.Finding) { f.HeldBy = reconcile.HeldByOf("off") }, recent: []reconcile.Action{{Task: "7"}}, want: heldBack},
		"it was acted on and is acted on":   {open: []reconcile.Action{{Task: "7"}}, recent: []reconcile.Action{{Task: "7"}}, want: underWay},
		"an action without ids says no ids": {open: []reconcile.Action{{Subject: "x"}}, want: reported},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := reconcile.FindingSeen{Finding: finding}
			if c.finding != nil {
				c.finding(&f.Finding)
			}
			s := sceneOf(reconcile.Overview{Now: webtest.Noon, Open: c.open, Recent: c.recent})
			if got := s.states.of(&f); got != c.want {
				t.Errorf("stateOf = %s, want %s", got, c.want)
			}
		})
	}
}

func TestOutcomeWords(t *testing.T) {
	cases := map[string]struct {
		a    reconcile.Action
		want string
		how  ui.Level
	}{
		"planned":        {reconcile.Action{Outcome: reconcile.OutcomePending}, "planned, not begun", ui.Busy},
		"claimed":        {reconcile.Action{Outcome: reconcile.OutcomePending, ClaimedBy: "a", ClaimEnds: webtest.Noon.Add(1)}, "being done by a", ui.Busy},
		"claim ran out":  {reconcile.Action{Outcome: reconcile.OutcomePending, ClaimedBy: "a", ClaimEnds: webtest.Noon, Attempts: 1}, "tried once, again at once", ui.Busy},
		"waits":          {reconcile.Action{Outcome: reconcile.OutcomePending, Attempts: 3, NextAttempt: webtest.Noon.Add(4 * time.Second)}, "tried 3 times, again in 4s", ui.Busy},
		"accepted":       {reconcile.Action{Outcome: reconcile.OutcomeAccepted, ActedAt: webtest.Ago(119 * time.Second)}, "accepted by the provider 1m59s ago, not confirmed yet", ui.Busy},
		"accepted long":  {reconcile.Action{Outcome: reconcile.OutcomeAccepted, ActedAt: webtest.Ago(2 * time.Minute)}, "accepted by the provider 2m ago, not confirmed yet", ui.Warn},
		"confirmed":      {reconcile.Action{Step: reconcile.StepTerminate, Outcome: reconcile.OutcomeConfirmed, ActedAt: webtest.Ago(1200 * time.Millisecond), ClosedAt: webtest.Noon}, "confirmed gone 1s after the request", ui.Well},
		"gone before":    {reconcile.Action{Step: reconcile.StepTerminate, Outcome: reconcile.OutcomeConfirmed, ClosedAt: webtest.Noon}, "confirmed gone, it was gone already", ui.Well},
		"stopped":        {reconcile.Action{Step: reconcile.StepQuarantine, Outcome: reconcile.OutcomeDone}, "stopped, and can come back", ui.Well},
		"brought back":   {reconcile.Action{Step: reconcile.StepResume, Outcome: reconcile.OutcomeDone}, "it is back", ui.Well},
		"put back":       {reconcile.Action{Step: reconcile.StepRestore, Outcome: reconcile.OutcomeDone}, "the row is as it was", ui.Well},
		"activated":      {reconcile.Action{Step: reconcile.StepActivate, Outcome: reconcile.OutcomeConfirmed}, "usable again", ui.Well},
		"written":        {reconcile.Action{Outcome: reconcile.OutcomeDone}, "task marked failed", ui.Well},
		"withdrawn":      {reconcile.Action{Outcome: reconcile.OutcomeWithdrawn}, "withdrawn: looked again, and it no longer held", ui.Calm},
		"taken back":     {reconcile.Action{Outcome: reconcile.OutcomeWithdrawn, How: reconcile.HowTakenBack, Detail: "by ana: it is mine"}, "withdrawn by ana: it is mine", ui.Calm},
		"given up":       {reconcile.Action{Outcome: reconcile.OutcomeFailed}, "given up", ui.Bad},
		"of a later day": {reconcile.Action{Outcome: "quarantined\u202e"}, "quarantined", ui.Warn},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			how, got := sceneOf(reconcile.Overview{Now: webtest.Noon}).steps.outcome(&c.a)
			if got != c.want || how != c.how {
				t.Errorf("outcome = %s %q, want %s %q", how, got, c.how, c.want)
			}
		})
	}
}

func TestDetails(t *testing.T) {
	cases := map[string]struct{ detail, line, block string }{
		"none":                {"", "", ""},
		"a short one":         {"it answered", "it answered", ""},
		"a line with its end": {"it answered\n", "it answered", ""},
		"two lines":           {"a\n b", "", "a\n b"},
		"as long as fits":     {strings.Repeat("a", 200), strings.Repeat("a", 200), ""},
		"longer":              {strings.Repeat("a", 201), "", strings.Repeat("a", 201)},
		"a whole log":         {strings.Repeat("line\n", 900), "", strings.Repeat("line\n", 800)[:ui.MostBlock-1] + "…"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := sceneOf(reconcile.Overview{Now: webtest.Noon}).steps.action(&reconcile.Action{Detail: c.detail})
			if got.Detail != c.line || got.Block != c.block {
				t.Errorf("detail %q, block %q; want %q, %q", got.Detail, got.Block, c.line, c.block)
			}
		})
	}
}

func TestHeldGroups(t *testing.T) {
	got := heldGroups(new(webtest.Worlds()["held"].Overview))
	of := func(id string) ui.Cell {
		return ui.Cell{More: []ui.Cell{ui.RuleCell("orphan"), {Text: ": "}, ui.SubjectCell("sandbox:daytona/" + id)}}
	}
	want := []heldGroup{
		{By: "observe", Count: "2 findings", Subjects: []ui.Cell{of("sb-3"), of("sb-4")}},
		{By: "budget: per_pass 20", Count: "1 finding", Subjects: []ui.Cell{of("sb-2")}},
		{By: "hold: sandbox:sb-1 (customer is in it) by ben", Count: "1 finding", Subjects: []ui.Cell{of("sb-1")}},
		{By: "pause: all (drill) by ana", Count: "1 finding", Subjects: []ui.Cell{of("sb-1")}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(heldGroup{}, "Key", "Means"), cmpopts.IgnoreUnexported(heldGroup{})); diff != "" {
		t.Errorf("heldGroups (-want +got):\n%s", diff)
	}
	many := heldGroups(new(webtest.Many()))
	if len(many) != 1 || many[0].Count != "300 findings" || len(many[0].Subjects) != mostSubjects || many[0].More != "And 280 more." {
		t.Errorf("of 300 findings: %+v", many)
	}
}

func TestHeldMeans(t *testing.T) {
	for by, want := range map[string]string{
		"observe":                     "The rule only looks",
		"off":                         "switched off",
		"rollout: 25%":                "Not among the share",
		"budget: per_hour 200":        "used up",
		"breaker: 41 due":             "Too many at once",
		"veto: finished-unrecorded":   "forbids",
		"incident: i-3k9f2":           "have one cause",
		"quarantine: e2b cannot stop": "Set remedy to terminate",
		"tasks-untrusted":             "The task table is not trusted",
		"events-untrusted":            "The workers' events are not trusted",
		"listing-untrusted daytona":   "The listing of daytona is not trusted",
		"pause: all (drill) by ana":   "",
		"unmatched pair: task 4, ...": "",
	} {
		got := heldMeans(reconcile.ParseHeld(by))
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("heldMeans(%q) = %q, want %q in it", by, got, want)
		}
	}
}

func TestWishes(t *testing.T) {
	o := webtest.With(webtest.Worlds()["held"].Overview, func(o *reconcile.Overview) {
		o.Controls.Breakers = webtest.Worlds()["breaker"].Overview.Controls.Breakers
		o.Controls.Holds = append(o.Controls.Holds, reconcile.Hold{Target: "label:team=a b"})
	})
	var got []string
	for _, w := range requests(&o) {
		got = append(got, strings.Join([]string{w.What, w.Author, w.Why, w.Until.Text, w.Command}, " | "))
	}
	want := []string{
		"Breaker of orphan |  | 5 subjects due at once, list 2f9k1 | until they are released or healthy | sandkeeper release orphan --hash 2f9k1",
		"duplicate lowered to observe |  |  | until it is cleared | sandkeeper mode duplicate clear",
		"Pause of all | ana | drill | until 2026-02-01 14:00:00 UTC (in 2h) | sandkeeper resume all",
		"Hold | ben | customer is in it | until it is lifted | sandkeeper unhold sandbox:sb-1",
		"Hold |  |  | until it is lifted | ",
		"Release of 1 subject from breaker:orphan | ana | checked by hand | until 2026-02-01 13:00:00 UTC (in 1h) | ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wishes (-want +got):\n%s", diff)
	}
}

func TestModes(t *testing.T) {
	s := sceneOf(reconcile.Overview{Now: webtest.Noon})
	s.policy.Rules = map[string]reconcile.RulePolicy{
		"orphan":    {Mode: reconcile.Enforce, Rollout: 25},
		"duplicate": {Mode: reconcile.Enforce, Rollout: 100},
		"errored":   {Mode: reconcile.Observe},
		"made-up":   {Mode: reconcile.Enforce}, // no rule of this version
	}
	s.Controls.Modes = map[string]reconcile.Mode{"duplicate": reconcile.Observe, "errored": reconcile.Observe}
	want := []modeLine{{"enforce", "orphan (25 % of subjects)"}, {"observe", "duplicate (lowered by an operator), errored"}}
	if diff := cmp.Diff(want, s.rules.modeLines()); diff != "" {
		t.Errorf("modeLines (-want +got):\n%s", diff)
	}
}

func TestTemplates(t *testing.T) {
	ahead := 48 * time.Hour
	cases := map[string]struct {
		t    reconcile.TemplateSeen
		want string // "" when it needs no line
	}{
		"active":                  {reconcile.TemplateSeen{State: reconcile.TemplateActive, Raw: "active"}, ""},
		"active, expires later":   {reconcile.TemplateSeen{State: reconcile.TemplateActive, ExpiresAt: webtest.Noon.Add(ahead)}, ""},
		"active, expires soon":    {reconcile.TemplateSeen{State: reconcile.TemplateActive, ExpiresAt: webtest.Noon.Add(ahead - 1)}, "active, expires soon"},
		"inactive":                {reconcile.TemplateSeen{State: reconcile.TemplateInactive, Raw: "inactive"}, "inactive"},
		"failed, in other words":  {reconcile.TemplateSeen{State: reconcile.TemplateFailed, Raw: "build_failed"}, "failed (build_failed)"},
		"a word nobody knows":     {reconcile.TemplateSeen{Raw: "odd"}, "unknown (odd)"},
		"could not be looked at":  {reconcile.TemplateSeen{}, "could not be looked at"},
		"missing, without a word": {reconcile.TemplateSeen{State: reconcile.TemplateMissing}, "missing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.t.Provider = "daytona"
			lines, others := sceneOf(reconcile.Overview{Now: webtest.Noon, Templates: []reconcile.TemplateSeen{c.t}}).templateLines()
			switch {
			case c.want == "" && (len(lines) > 0 || others != 1):
				t.Errorf("templateLines = %+v, %d; want none and 1", lines, others)
			case c.want != "" && (len(lines) != 1 || others != 0 || lines[0].State != c.want):
				t.Errorf("templateLines = %+v, %d; want %q", lines, others, c.want)
			}
		})
	}
}

func TestListsAreCut(t *testing.T) {
	o := webtest.Many()
	p := viewOf(&Reading{Overview: o}, process())
	if len(p.Working) != mostOpen || p.MoreWork != "And 52 more." || len(p.Hold) != 1 || p.Hold[0].Text.Text != "300 findings held because the rule only observes" {
		t.Errorf("%d steps (%q), on hold %+v", len(p.Working), p.MoreWork, p.Hold)
	}
	if len(p.Timeline.Rows) > mostTimeline {
		t.Errorf("the timeline has %d lines", len(p.Timeline.Rows))
	}
}

func TestFindingsInOrder(t *testing.T) {
	o := webtest.With(webtest.Held(), webtest.Spoil) // spoil's finding waits for a person
	o.Findings[0].Due = false
	s := sceneOf(o)
	var got []string
	for _, f := range s.findings.sorted() {
		got = append(got, string(s.states.of(f))+" "+subjectWords(f.Subject))
	}
	want := []string{
		"reported template daytona/ai-agent-dev-heavy", "held sandbox daytona/sb-1", "held sandbox daytona/sb-2",
		"held sandbox daytona/sb-3", "held sandbox daytona/sb-4", "watched sandbox daytona/sb-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// TestProofIsShown: what only missing proofs hold says so, and that no proof is asked for is no secret.
func TestProofIsShown(t *testing.T) {
	o := webtest.Worlds()["held"].Overview
	o.Controls, o.Incidents, o.Sources, o.Findings = reconcile.Controls{}, nil, nil, nil
	line := "not proven on your history: 38 % of 412 completed tasks were silent for longer than 1m30s; 11m would do"
	o.FindingsOpen = map[string]int{"heartbeat-lost": 2}
	for _, task := range []string{"task:1", "task:2"} {
		o.Findings = append(o.Findings, reconcile.FindingSeen{Finding: reconcile.Finding{Rule: "heartbeat-lost", Subject: task, Due: true,
			FirstSeen: o.Now, LastSeen: o.Now, Reason: "silent", HeldBy: reconcile.HeldBy{{Kind: reconcile.HeldUnproven, Reason: line}}}})
	}
	v, ok := waiting(newScene(&o, webtest.Policy(), nil))
	if !ok || v.Word != "Not proven" || !strings.Contains(v.Sentence, "2 findings would be repaired, but not proven on your history is heartbeat-lost") ||
		!strings.HasPrefix(v.Command, "sandkeeper arm heartbeat-lost --unproven") {
		t.Errorf("verdict %+v", v)
	}
	policy := webtest.Policy()
	policy.Proof = reconcile.ProofPolicy{}
	notes := notesOf(newScene(&o, policy, nil), nil)
	if len(notes) != 1 || !strings.Contains(notes[0].Text, "proof: off") {
		t.Errorf("notes %+v", notes)
	}
	o.Controls.Arms = map[string]reconcile.Arm{"orphan": {Attribution: reconcile.Attribution{Author: "ana", Reason: "looked at all"}, At: o.Now}}
	s := newScene(&o, webtest.Policy(), nil)
	if c := s.rules.modeCell("orphan"); !strings.Contains(c.Sub, "armed unproven by ana: looked at all") {
		t.Errorf("mode of an armed rule: %+v", c)
	}
	if c := s.rules.modeCell("duplicate"); !strings.Contains(c.Sub, "held: not proven") {
		t.Errorf("mode of a rule that is not proven: %+v", c)
	}
	if r := requests(s.Overview); len(r) != 1 || r[0].Command != "sandkeeper arm orphan --revoke --reason …" {
		t.Errorf("requests %+v", r)
	}
}

func TestNotes(t *testing.T) {
	r := Reading(webtest.Worlds()["held"])
	by := process()
	by.ConfigError = "sandkeeper.yaml:3:1: unknown key"
	var got []string
	for _, n := range viewOf(&r, by).Notes {
		got = append(got, n.Text)
	}
	want := []string{
		"The changed config was refused; the previous one is still in force: sandkeeper.yaml:3:1: unknown key.",
		"The ledger is not as this program needs it: schema version 1, want 2.",
		"All acting is paused by ana (drill), until 2026-02-01 14:00:00 UTC (in 2h).",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
