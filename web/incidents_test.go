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

// TestIncidentIsOneThing: ten identical failures are one line, and what is not of it stays.
func TestIncidentIsOneThing(t *testing.T) {
	s := sceneOf(webtest.Incident())
	got := s.findings.incident(&s.Incidents[0])
	want := incidentView{
		ID: "i-3k9f2", Level: ui.Bad, State: "open", Rule: "assigned-stale", Where: "at daytona, template ai-agent-dev-heavy", Count: "37 tasks failed to start",
		Cause: `Snapshot "ai-agent-dev-heavy" is inactive at daytona; last successful start from it 2026-01-17 12:00:00 (likely cause).`,
		Error: "sandbox creation failed: snapshot # is inactive", Span: ", 53m after the first.", First: ui.Moment{Text: "55m ago"}, Last: ui.Moment{Text: "2m ago"},
		Closed: ui.Moment{Text: "never"}, Cost: "$4.32", Release: "sandkeeper release incident:i-3k9f2", Affected: "sandkeeper affected i-3k9f2",
		Findings: "12 open findings: 8 held, 4 acted on",
		Reasons:  []ui.Repeated{{Text: "Worker of task 100 never started: snapshot is inactive.", Times: 12, Example: true}},
	}
	ignore := cmp.Options{cmpopts.IgnoreFields(incidentView{}, "Key", "Means", "Holds", "Evidence"), cmpopts.IgnoreFields(ui.Moment{}, "Exact", "ISO")}
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("incident (-want +got):\n%s", diff)
	}
	items := s.attention()
	if len(items) != 2 || items[0].Chip.Text != "incident" || !strings.Contains(items[1].Sub, "template-unusable") {
		t.Errorf("besides the incident: %+v", items)
	}
}

// TestIncidentIsOver: a cause is told in the past once it is over, with the time when that was seen.
func TestIncidentIsOver(t *testing.T) {
	s := sceneOf(webtest.With(webtest.Incident(), webtest.Recover))
	cause := `napshot "ai-agent-dev-heavy" was inactive at daytona; last successful start before that 2026-01-17 12:00:00 (likely cause).`
	times := "The failures were from 2026-02-01 11:05:00 UTC to 11:58:00 UTC; it is active again, last looked at 11:59:48 UTC."
	if got, want := s.findings.incident(&s.Incidents[0]).Cause, "S"+cause+" "+times; got != want {
		t.Errorf("cause = %q, want %q", got, want)
	}
	got := judge(s)
	release := " The cause is over. 1. Release the incident, so that what it holds goes on. 2. Retry the affected tasks:"
	if want := times + release; got.Next != want {
		t.Errorf("next = %q, want %q", got.Next, want)
	}
	if got.Level != ui.Warn || got.Word != "Incident over" || got.Sentence != "37 tasks failed to start: s"+cause {
		t.Errorf("verdict = %s %s: %q", got.Level, got.Word, got.Sentence)
	}
	if n, l := s.waitingAt("incidents"); n != 1 || l != ui.Warn {
		t.Errorf("the navigation has %d incidents in %s", n, l)
	}
	if chip := s.incidentItems()[0].Chip; chip.Level != ui.Warn || chip.Text != "incident over, on hold" {
		t.Errorf("what needs attention has %+v", chip)
	}
}

// TestIncidentThatWaitsForNobody: where nothing waits for it, its release ends no sandbox, and nobody is told so.
func TestIncidentThatWaitsForNobody(t *testing.T) {
	s := sceneOf(webtest.With(webtest.With(webtest.Incident(), webtest.Recover), func(o *reconcile.Overview) {
		o.Findings, o.FindingsOpen, o.Open, o.OpenTotal = nil, nil, nil, 0
	}))
	if got := judge(s).Next; !strings.HasSuffix(got, "The cause is over. 1. Release the incident. 2. Retry the affected tasks:") {
		t.Errorf("next = %q", got)
	}
}

// TestIncidentThatHoldsNothing: once its cause is over and it was released, it is blue, and nothing agrees before it is closed.
func TestIncidentThatHoldsNothing(t *testing.T) {
	s := sceneOf(webtest.With(webtest.With(webtest.Incident(), webtest.Recover), func(o *reconcile.Overview) {
		webtest.Release(o)
		o.Findings, o.FindingsOpen, o.Open, o.OpenTotal = nil, nil, nil, 0
	}))
	if got := judge(s); got.Level != ui.Set || got.Word != "Incident over" {
		t.Errorf("verdict = %s %s: %q", got.Level, got.Word, got.Sentence)
	}
	if _, l := s.waitingAt("incidents"); l != ui.Set {
		t.Errorf("the navigation has it in %s", l)
	}
}

// TestIncidentThatCeased: where no cause is known, both times are told once no failure comes any more.
func TestIncidentThatCeased(t *testing.T) {
	s := sceneOf(webtest.With(webtest.Incident(), func(o *reconcile.Overview) {
		webtest.Recover(o)
		o.Incidents[0].Cause, o.Incidents[0].LastSeen = "", webtest.Ago(12*time.Minute)
	}))
	got := judge(s)
	if want := "37 tasks failed to start. No likely cause was found."; got.Level != ui.Warn || got.Sentence != want {
		t.Errorf("verdict = %s %q, want %q", got.Level, got.Sentence, want)
	}
	if !strings.HasPrefix(got.Next, "The failures were from 2026-02-01 11:05:00 UTC to 11:48:00 UTC. "+
		"1. Make sure that the cause is gone. 2. Release the incident") {
		t.Errorf("next = %q", got.Next)
	}
}

// TestIncidentOfAnotherCause: where its template is unusable in another way by now, the cause is what it was.
func TestIncidentOfAnotherCause(t *testing.T) {
	s := sceneOf(webtest.With(webtest.Incident(), func(o *reconcile.Overview) {
		for i := range o.Templates {
			if o.Templates[i].Name == "ai-agent-dev-heavy" {
				o.Templates[i].State = reconcile.TemplateFailed
			}
		}
	}))
	got := s.findings.incident(&s.Incidents[0]).Cause
	if !strings.Contains(got, "was inactive at daytona") || !strings.Contains(got, "It is failed by now, seen 2026-02-01") {
		t.Errorf("cause = %q", got)
	}
}

// TestIncidentSaysWhatToDo about the template that its cause names, also where it is of no template itself.
func TestIncidentSaysWhatToDo(t *testing.T) {
	s := sceneOf(webtest.With(webtest.Incident(), func(o *reconcile.Overview) { o.Incidents[0].Template = "" }))
	if got := judge(s).Next; !strings.HasPrefix(got, "1. Activate it at daytona: no task that needs it can start until then. 2. ") {
		t.Errorf("next = %q", got)
	}
}

// TestIncidentHolds: who reads it knows whether it holds something, and how to let go.
func TestIncidentHolds(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*reconcile.Overview)
		state   string
		level   ui.Level
		holds   string
		release bool
	}{
		"open":     {func(*reconcile.Overview) {}, "open", ui.Bad, "It holds every further termination and requeue", true},
		"released": {webtest.Release, "open, released", ui.Bad, "It holds nothing: released by ana (the snapshot is active again).", false},
		"over":     {webtest.Recover, "over, on hold", ui.Warn, "It holds every further termination and requeue", true},
		"over and released": {func(o *reconcile.Overview) { webtest.Recover(o); webtest.Release(o) }, "over, released", ui.Set,
			"It holds nothing: released by ana", false},
		"a failure came just now": {func(o *reconcile.Overview) {
			webtest.Recover(o)
			o.Incidents[0].LastSeen = webtest.Ago(59 * time.Second)
		},
			"open", ui.Bad, "It holds every", true},
		"no failure came for long, and nothing is unusable": {func(o *reconcile.Overview) {
			webtest.Recover(o)
			o.Incidents[0].Cause, o.Incidents[0].LastSeen = "", webtest.Ago(10*time.Minute)
		}, "over, on hold", ui.Warn, "It holds every", true},
		"not for so long": {func(o *reconcile.Overview) {
			webtest.Recover(o)
			o.Incidents[0].Cause, o.Incidents[0].LastSeen = "", webtest.Ago(9*time.Minute)
		}, "open", ui.Bad, "It holds every", true},
		"no failure came for long, and its template is still unusable": {func(o *reconcile.Overview) {
			o.Incidents[0].LastSeen = webtest.Ago(20 * time.Minute)
		}, "open", ui.Bad, "It holds every", true},
		"closed": {func(o *reconcile.Overview) { o.Incidents[0].ClosedAt = webtest.Noon }, "closed", ui.Calm, "It holds nothing any more.", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := incidentAt(webtest.With(webtest.Incident(), c.change), 0)
			if got.State != c.state || got.Level != c.level || !strings.HasPrefix(got.Holds, c.holds) || (got.Release != "") != c.release {
				t.Errorf("incident = %s %q, %q, %q; want %s %q, %q", got.Level, got.State, got.Holds, got.Release, c.level, c.state, c.holds)
			}
		})
	}
}

// TestMembers: a finding is folded only under an incident that is open and known to be its own.
func TestMembers(t *testing.T) {
	action := reconcile.Action{Rule: "errored", Subject: "task:1", Signature: "s"}
	for name, c := range map[string]struct {
		itself string
		heldBy []string
		open   []reconcile.Action
		closed bool
		want   bool
	}{
		"nothing says so":              {},
		"it says so itself":            {itself: "i-1", want: true},
		"it names another":             {itself: "i-2", open: []reconcile.Action{action}},
		"it is held by the incident":   {heldBy: []string{"budget: per_pass 20", "incident: i-1"}, want: true},
		"held, with words":             {heldBy: []string{"incident: i-1, 37 failures"}, want: true},
		"it is held by another":        {heldBy: []string{"incident: i-2"}},
		"its action has the signature": {open: []reconcile.Action{action}, want: true},
		"another rule's action has it": {open: []reconcile.Action{{Rule: "orphan", Subject: "task:1", Signature: "s"}}},
		"another thing's action has":   {open: []reconcile.Action{{Rule: "errored", Subject: "task:2", Signature: "s"}}},
		"its action has none":          {open: []reconcile.Action{{Rule: "errored", Subject: "task:1"}}},
		"the incident is closed":       {heldBy: []string{"incident: i-1"}, open: []reconcile.Action{action}, closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			i := reconcile.Incident{ID: "i-1", Signature: "s", Count: 5}
			if c.closed {
				i.ClosedAt = webtest.Noon
			}
			s := sceneOf(reconcile.Overview{Now: webtest.Noon, Incidents: []reconcile.Incident{i}, Open: c.open, Findings: []reconcile.FindingSeen{
				{Finding: reconcile.Finding{Rule: "errored", Subject: "task:1", Due: true, HeldBy: reconcile.HeldByOf(c.heldBy...), Incident: c.itself}}}})
			if got := s.findings.folded[&s.Findings[0]]; got != c.want || (len(s.findings.members["i-1"]) == 1) != c.want {
				t.Errorf("folded = %v, members %d; want %v", got, len(s.findings.members["i-1"]), c.want)
			}
		})
	}
}

func TestRegrets(t *testing.T) {
	s := sceneOf(webtest.With(webtest.Healthy(), webtest.Demote))
	var got []string
	for _, r := range falsePositives(s.Overview) {
		got = append(got, r.Word+" | "+r.Subject+" | "+r.After+" | "+r.Explain)
	}
	for _, rule := range []string{"assigned-stale", "heartbeat-lost", "sandbox-missing", "inactive", "orphan"} {
		l := tallyCell(s.Overview, rule)
		got = append(got, strings.Join([]string{rule, l.Text, l.Sub, string(l.Level)}, " | "))
	}
	want := []string{
		"would have been failed | task 90 | 15m | sandkeeper explain 90", "was failed | task 91 | 14m | sandkeeper explain 91",
		"was failed | task 92 | 13m | sandkeeper explain 92", "its sandbox was terminated | task 93 | 12m | sandkeeper explain 93",
		"assigned-stale | 3 of 81 | 3.7 % | bad", "heartbeat-lost | 1 of 100 | 1.0 % | warn",
		"sandbox-missing | 0 of 9 | 0.0 % | well", "inactive | nothing acted on yet |  | ", "orphan | not watched |  | ",
		"not watched: errored, orphan",
	}
	got = append(got, "not watched: "+unwatched(s.Overview))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("regrets and tallies (-want +got):\n%s", diff)
	}
}

// TestQuarantines: only what is stopped and waits is in quarantine; the rest is under way.
func TestQuarantines(t *testing.T) {
	o := webtest.With(webtest.Healthy(), webtest.Suspend)
	s := sceneOf(o)
	views, n := s.steps.quarantines()
	if n != 2 || views[0].Sandbox != "daytona/sb-5" || views[0].Until.Text != "until 2026-02-02 11:50:00 UTC (in 23h50m)" ||
		views[0].Restore != "sandkeeper restore sb-5" || views[1].Author != "ana" {
		t.Errorf("%d in quarantine: %+v", n, views)
	}
	open, more := s.steps.working()
	if len(open) != 2 || open[0].Chip.Text != "quarantine" || open[0].Text.ID != "daytona/sb-6" || more != "" || s.steps.awake() != 2 {
		t.Errorf("%d under way (%q), %d steps: %+v", len(open), more, s.steps.awake(), open)
	}
	for name, change := range map[string]func(*reconcile.Action){
		"its time is over":       func(a *reconcile.Action) { a.NextAttempt = webtest.Noon },
		"it was tried":           func(a *reconcile.Action) { a.Attempts = 1 },
		"it is being done":       func(a *reconcile.Action) { a.ClaimedAt = webtest.Noon },
		"no quarantine is told":  func(a *reconcile.Action) { a.Evidence = nil },
		"it is the first step":   func(a *reconcile.Action) { a.Seq = 0 },
		"it is no terminate":     func(a *reconcile.Action) { a.Step = reconcile.StepResume },
		"the stop is still open": func(a *reconcile.Action) { a.Remedy, a.Sandbox = "q2", "sb-6" },
	} {
		o := webtest.With(webtest.Healthy(), webtest.Suspend)
		change(&o.Open[0])
		if _, n := sceneOf(o).steps.quarantines(); n != 1 {
			t.Errorf("%s: %d in quarantine, want 1", name, n)
		}
	}
}

// TestOperatorsActions are shown with who asked for them, and why.
func TestOperatorsActions(t *testing.T) {
	var got []string
	s := sceneOf(webtest.With(webtest.Healthy(), webtest.Suspend))
	for i := range s.Recent[1:] {
		a := s.steps.action(&s.Recent[1+i])
		got = append(got, strings.Join([]string{a.Rule, a.Author, a.What, a.Outcome, a.Reason}, " | "))
	}
	want := []string{
		"operator | ana | resume sandbox daytona/sb-8 of task 44 | it is back | It was fine.",
		"operator | ana | restore task 44 | the row is as it was | It was fine.",
		"emergency | ana | terminate sandbox daytona/sb-8 | confirmed gone 0s after the request | It was fine.",
		"template-unusable |  | activate template daytona/light | usable again | It was fine.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
}

// TestTargetsOnThePage: missed ones first, and none of them is made up.
func TestTargetsOnThePage(t *testing.T) {
	s := sceneOf(webtest.Incident())
	lines := s.targets()
	if level, word := targetsWord(lines); level != ui.Warn || word != "1 of 7 missed" || lines[0].Name != "stop-response" || lines[0].Value != "20 % of 20" {
		t.Errorf("targets are %s %q, the first %+v", level, word, lines[0])
	}
	if last := lines[len(lines)-1]; last.Word != "not measured" || last.Level != ui.Calm {
		t.Errorf("the last is %+v, want one that was not measured", last)
	}
	if got := endedWords(s.Scores.Ended); got != "Tasks that ended: 1840 completed, 61 failed, 20 stopped." {
		t.Errorf("endedWords = %q", got)
	}
	nothing := sceneOf(reconcile.Overview{Now: webtest.Noon, Scores: reconcile.Scores{Active: -1, Live: -1}})
	if level, word := targetsWord(nothing.targets()); level != ui.Calm || word != "not measured" || endedWords(nil) != "No task ended." {
		t.Errorf("of nothing: %s %q", level, word)
	}
	s.Scores.StopsFast = 20
	if level, word := targetsWord(s.targets()); level != ui.Well || word != "all 7 met" {
		t.Errorf("with nothing missed: %s %q", level, word)
	}
	half := reconcile.Scores{Window: 30 * time.Minute}
	if windowWords(&half) != "Targets, the last 30m" || windowWords(&reconcile.Scores{Window: 24 * time.Hour}) != "Targets, the last 1d" || windowWords(&reconcile.Scores{}) != "Targets" {
		t.Error("the window is told wrong")
	}
}

func incidentAt(o reconcile.Overview, n int) incidentView {
	s := sceneOf(o)
	return s.findings.incident(&s.Incidents[n])
}
