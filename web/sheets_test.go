package web

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// A shown is what the pages besides the first one are made of.
type shown struct {
	world webtest.World
	life  reconcile.History
	text  string // what is asked for, and what others wrote
}

// sheets are all pages besides the first one.
func (s *shown) sheets() map[string]templ.Component {
	r := Reading(s.world)
	a := &Asked{Reading: &r, Process: process(), Up: "../"}
	o := &r.Overview
	in := reconcile.Incident{ID: s.text, FirstSeen: webtest.Ago(time.Hour), LastSeen: webtest.Ago(time.Minute)}
	if len(o.Incidents) > 0 {
		in = o.Incidents[0]
	}
	report := reconcile.RuleReport{Rule: "assigned-stale", Verdicts: 81, FalsePositives: 1, Examples: s.life.Verdicts, Cost: 2.5,
		Money:  []reconcile.RuleMoney{{Provider: s.text, Cost: 2, UntilFound: 0.4, Saved: 11}, {Provider: "vercel", Cost: 0.5}},
		Groups: []reconcile.LabelGroup{{Label: "type=" + s.text, Subjects: 12, FalsePositives: 12}},
		Curve: &reconcile.Curve{Rule: "assigned-stale", At: webtest.Ago(time.Hour), After: 3 * time.Minute, Suggested: 5 * time.Minute,
			Samples: 400, FalsePositives: 20, Upper: 0.072, Points: []reconcile.CurvePoint{
				{After: time.Minute, FalsePositives: 80, Rate: 0.2, Upper: 0.24, Delay: time.Minute},
				{After: 3 * time.Minute, FalsePositives: 20, Rate: 0.05, Upper: 0.072, Delay: 3 * time.Minute},
				{After: 10 * time.Minute, Rate: 0, Upper: 0.0075, Delay: 10 * time.Minute}}}}
	chosen := &reconcile.Chosen{State: reconcile.ChosenHeld, Rule: "orphan", HeldBy: s.text, Text: s.text, Author: s.text}
	findings, actions := append(o.Findings, s.life.Findings...), append(o.Recent, s.life.Actions...)
	pass := o.Passes[0]
	pass.Counts = map[string]int{"tasks:running": 200, "owned:daytona": 214, "sandboxes:daytona:" + s.text: 3}
	return map[string]templ.Component{
		"task":      TaskPage(a, s.text, s.life),
		"sandbox":   SandboxPage(a, reconcile.Ref{Provider: "daytona", ID: s.text}, s.life),
		"findings":  FindingsPage(a, chosen, Part[reconcile.FindingSeen]{Rows: findings, Next: "2026-02-01T11:00:00Z~7"}),
		"actions":   ActionsPage(a, chosen, Part[reconcile.Action]{Rows: actions}),
		"incidents": IncidentsPage(a, &reconcile.Chosen{Sort: "-failures"}, Part[reconcile.Incident]{Rows: o.Incidents, Next: "x"}),
		"incident": IncidentPage(a, &in, Part[reconcile.Verdict]{Rows: s.life.Verdicts, Next: "x"},
			Part[reconcile.FindingSeen]{Rows: findings, Next: "x"}),
		"tasks":     TasksPage(a, &reconcile.Chosen{Text: s.text, Sort: "-age"}, Part[reconcile.TaskSeen]{Rows: s.life.Tasks, Next: "x"}),
		"sandboxes": SandboxesPage(a, &reconcile.Chosen{Text: s.text}, Part[reconcile.SandboxSeen]{Rows: s.life.Sandboxes}),
		"passes":    PassesPage(a, o.Passes, true),
		"pass":      PassPage(a, &pass, Part[reconcile.Action]{Rows: actions, Next: "x"}),
		"sources":   SourcesPage(a),
		"rules":     RulesPage(a),
		"rule":      RulePage(a, "assigned-stale", &report),
		"stops":     StopsPage(a),
		"operators": OperatorsPage(a, Part[reconcile.TimelineEvent]{Rows: s.life.Timeline, Next: "x"}),
		"search": SearchPage(a, s.text, []reconcile.FoundSubject{
			{Type: reconcile.SubjectTask, ID: s.text, State: s.text, There: true},
			{Type: reconcile.SubjectSandbox, Provider: "daytona", ID: s.text, Name: s.text, Task: s.text, State: s.text}}, true),
		"runbooks": RunbooksPage(a, map[string]string{"frozen": "A source is not trusted"}),
		"runbook":  RunbookPage(a, "A source is not trusted", "<h2>What it means</h2>"),
		"unknown":  UnknownPage(a, s.text),
	}
}

func rendered(t *testing.T, c templ.Component) string {
	t.Helper()
	var text strings.Builder
	if err := c.Render(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestSheets(t *testing.T) {
	s := shown{world: webtest.World{Overview: webtest.With(webtest.Incident(), func(o *reconcile.Overview) {
		o.Controls = webtest.Worlds()["held"].Overview.Controls
		o.Controls.Breakers = webtest.Worlds()["breaker"].Overview.Controls.Breakers
	})}, life: webtest.Life(), text: "e3598f27-a234-45bb-a072-bc3ecbd7e9aa"}
	for name, page := range s.sheets() {
		t.Run(name, func(t *testing.T) { golden(t, "sheet_"+name+".html", broken(rendered(t, page))) })
	}
}

// TestHostileSheets: what others wrote, and what somebody asks for, is text on each page.
func TestHostileSheets(t *testing.T) {
	s := shown{world: webtest.Worlds()["hostile"], life: webtest.HostileLife(), text: webtest.Evil}
	told := 0
	for name, page := range s.sheets() {
		t.Run(name, func(t *testing.T) {
			text := rendered(t, page)
			if len(text) > 150_000 {
				t.Errorf("the page has %d bytes: a text was not cut", len(text))
			}
			for _, r := range text {
				if unicode.In(r, unicode.Cf) || unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Fatalf("%q is on the page", r)
				}
			}
			told += strings.Count(text, "&lt;script&gt;alert(1)")
			harmlessElements(t, text, 45)
		})
	}
	if told < 50 {
		t.Errorf("the hostile text is shown only %d times", told)
	}
}

// TestPartOfASheet: what the script asks for is the bar and the content, and nothing of what stands around them.
func TestPartOfASheet(t *testing.T) {
	r := Reading{Overview: webtest.Healthy()}
	text := rendered(t, RulesPage(&Asked{Reading: &r, Process: process(), Part: true}))
	if strings.Contains(text, "<html") || strings.Count(text, "data-part=") != 2 || strings.Contains(text, "<footer") {
		t.Errorf("the part is %.300s", text)
	}
}

// TestBreakerIsReadFirst: the command that lets a list go stands after the list, on each page that has it.
func TestBreakerIsReadFirst(t *testing.T) {
	r := Reading{Overview: webtest.Worlds()["breaker"].Overview}
	a := &Asked{Reading: &r, Process: process()}
	chosen := &reconcile.Chosen{State: reconcile.ChosenHeld, Rule: "orphan"}
	for name, page := range map[string]templ.Component{
		"stops": StopsPage(a), "findings": FindingsPage(a, chosen, Part[reconcile.FindingSeen]{Rows: r.Overview.Findings}),
	} {
		text := rendered(t, page)
		if command := strings.Index(text, "release orphan --hash 2f9k1"); command < strings.LastIndex(text, "daytona/sb-4<") {
			t.Errorf("%s: the command stands at %d, before the last of its list", name, command)
		}
	}
	p := viewOf(&r, process())
	if text := rendered(t, document(p)); strings.Contains(text, "--hash") {
		t.Error("the first page has the command, and not the list")
	}
	empty := FindingsPage(a, chosen, Part[reconcile.FindingSeen]{})
	if strings.Contains(rendered(t, empty), "--hash") {
		t.Error("the command is shown without a list")
	}
}

// TestProvidersArePaused: the page of sources has, for each provider, the button that pauses it, or ends that.
func TestProvidersArePaused(t *testing.T) {
	for scope, want := range map[string]string{"all": "act/pause?what=provider%3Adaytona",
		"provider:daytona": "act/resume?what=provider%3Adaytona"} {
		r := Reading{Overview: webtest.Healthy()}
		r.Overview.Controls.Pauses = []reconcile.Pause{{Scope: scope, Author: "ana", At: r.Overview.Now}}
		text := rendered(t, SourcesPage(&Asked{Reading: &r, Process: process()}))
		if !strings.Contains(text, want) || strings.Count(text, "what=provider%3Adaytona") != 1 {
			t.Errorf("with %s paused the page has no %s", scope, want)
		}
	}
}

// TestStopsAreColoured: what operators set alone is blue, and amber with it is what nobody asked for.
func TestStopsAreColoured(t *testing.T) {
	for want, change := range map[ui.Level]func(*reconcile.Overview){
		ui.Set: func(*reconcile.Overview) {},
		ui.Warn: func(o *reconcile.Overview) {
			o.Controls.Breakers = webtest.Worlds()["breaker"].Overview.Controls.Breakers
		},
	} {
		r := Reading{Overview: webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
			o.Controls.Holds = []reconcile.Hold{{ID: 1, Target: "task:t-1", Author: "ana", At: o.Now}}
			change(o)
		})}
		if text := rendered(t, StopsPage(&Asked{Reading: &r, Process: process()})); !strings.Contains(text, `class="head `+string(want)) {
			t.Errorf("the head is not %s in %.2000s", want, text[strings.Index(text, "<main"):])
		}
	}
}

func TestDisagreements(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*reconcile.History)
		want   string
	}{
		"they agree":       {func(*reconcile.History) {}, ""},
		"the task is over": {func(h *reconcile.History) { h.Tasks[0].Live = false }, "the task is over, and its sandbox exists"},
		"its sandbox is gone": {func(h *reconcile.History) { h.Sandboxes[0].GoneAt = webtest.Noon },
			"the task is live, and its sandbox is gone"},
		"both are over": {func(h *reconcile.History) {
			h.Tasks[0].Live, h.Sandboxes[0].GoneAt = false, webtest.Noon
		}, ""},
		"a sandbox alone": {func(h *reconcile.History) { h.Tasks = nil }, "a sandbox exists, and no task of it was seen"},
		"two sandboxes": {func(h *reconcile.History) {
			h.Sandboxes = append(h.Sandboxes, reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "daytona", ID: "other"}})
		}, "one task has 2 sandboxes"},
		"no sandbox was seen": {func(h *reconcile.History) { h.Sandboxes = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := life{sceneOf(reconcile.Overview{Now: webtest.Noon}), webtest.Life()}
			c.change(&l.History)
			if got := l.disagreement(); got != c.want {
				t.Errorf("disagreement = %q, want %q", got, c.want)
			}
		})
	}
}

// TestHistoryLinks: a line on record leads to the sandbox, the task and the incident that it names.
func TestHistoryLinks(t *testing.T) {
	l := life{History: reconcile.History{
		Tasks:     []reconcile.TaskSeen{{ID: "e3598f27"}},
		Sandboxes: []reconcile.SandboxSeen{{Ref: reconcile.Ref{Provider: "daytona", ID: "53ca4d43"}}},
		Findings:  []reconcile.FindingSeen{{Finding: reconcile.Finding{Incident: "i-k45ny"}}},
		Timeline:  []reconcile.TimelineEvent{{What: "task e3598f27 of sandbox 53ca4d43 is part of incident i-k45ny, unlike 53ca4d43x"}},
	}}
	var hrefs []string
	for _, link := range l.historyGrid().Rows[0].Cells[2].Words {
		if link.Href != "" {
			hrefs = append(hrefs, link.Href)
		}
	}
	want := []string{"tasks/e3598f27", "sandboxes/daytona/53ca4d43", "incidents/i-k45ny"}
	if !slices.Equal(hrefs, want) {
		t.Errorf("the line leads to %q, want %q", hrefs, want)
	}
}

func TestAddresses(t *testing.T) {
	for got, want := range map[string]string{
		ui.TaskAddress("7"):                             "tasks/7",
		ui.SandboxAddress("daytona", "a/b c?#%ä"):       "sandboxes/daytona/a%2Fb%20c%3F%23%25%C3%A4",
		ui.SandboxAddress("", "x"):                      "",
		ui.SandboxAddress("..", "x"):                    "",
		ui.TaskAddress("."):                             "",
		ui.RuleAddress("orphan"):                        "rules/orphan",
		ui.RuleAddress("operator"):                      "",
		ui.Asking("findings", "rule", "", "text", "a&"): "findings?text=a%26",
		ui.Asking("x", "a", "1", "b", "2"):              "x?a=1&b=2",
		ui.SubjectAddress("incident:i-1"):               "incidents/i-1",
		ui.SubjectAddress("sandbox:sb-1"):               "search?q=sb-1",
		ui.SubjectAddress("capacity:daytona/cpu"):       "",
		ui.SubjectAddress("breaker:orphan"):             "rules/orphan",
		ui.SubjectAddress("provider:daytona"):           "sandboxes?provider=daytona",
		ui.SubjectAddress("template:daytona/light"):     "sandboxes?provider=daytona&template=light",
	} {
		if got != want {
			t.Errorf("address %q, want %q", got, want)
		}
	}
	if got := ui.TaskAddress(strings.Repeat("x", ui.MostSegment+1)); got != "" {
		t.Errorf("a long id leads to %d bytes", len(got))
	}
}

// TestModeIsInTheVerdict: what only observes, or is paused, is no good news.
func TestModeIsInTheVerdict(t *testing.T) {
	observe := webtest.Policy()
	for rule, p := range observe.Rules {
		p.Mode = reconcile.Observe
		observe.Rules[rule] = p
	}
	o := webtest.Healthy()
	if got := judge(newScene(&o, observe, nil)); got.Level != ui.Set || got.Word != "Observe only" || !strings.Contains(got.Sentence, "every rule only observes") {
		t.Errorf("observing: %+v", got)
	}
	o.Controls.Pauses = []reconcile.Pause{{Scope: "all", Author: "ana", Reason: "drill"}}
	if got := judge(newScene(&o, webtest.Policy(), nil)); got.Level != ui.Set || got.Word != "Paused" || !strings.Contains(got.Sentence, "by ana (drill)") {
		t.Errorf("paused: %+v", got)
	}
	o = webtest.Incident()
	if got := judge(newScene(&o, observe, nil)); got.Level != ui.Bad || newScene(&o, observe, nil).chips()[0].Text != "OBSERVE ONLY" {
		t.Errorf("an incident while observing: %+v", got)
	}
}

// TestMissedTargetsAreSaid: a green verdict does not hide what was missed.
func TestMissedTargetsAreSaid(t *testing.T) {
	o := webtest.Healthy()
	o.Scores = webtest.Incident().Scores
	if got := judge(sceneOf(o)); got.Level != ui.Well || !strings.HasSuffix(got.Sentence, "Of the targets of the last 1d, 1 was missed.") {
		t.Errorf("judge = %+v", got)
	}
}

// TestTimelineIsGrouped: what was done alike within minutes is one line.
func TestTimelineIsGrouped(t *testing.T) {
	o := webtest.Incident()
	var lines []string
	for _, r := range sceneOf(o).timeline().Rows {
		line := r.Cells[1].Text + ":"
		for _, c := range r.Cells[2].More {
			line += c.Text + c.ID
		}
		lines = append(lines, line)
	}
	want := "done:4 tasks marked failed · assigned-stale → i-3k9f2"
	if len(lines) == 0 || lines[0] != want {
		t.Errorf("timeline = %q, want %q first", lines, want)
	}
}

// TestSourceIsReleasedWhereItHolds: what waits for a source is released from where the source says what it holds.
func TestSourceIsReleasedWhereItHolds(t *testing.T) {
	for world, want := range map[string]bool{"frozen": true, "healthy": false} {
		r := Reading(webtest.Worlds()[world])
		text := rendered(t, SourcesPage(&Asked{Reading: &r, Process: process()}))
		if got := strings.Contains(text, `href="act/release?rule=listing%3Adaytona"`); got != want {
			t.Errorf("%s: a release is offered: %t, want %t", world, got, want)
		}
	}
}
