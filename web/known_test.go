package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// TestWhatLeftTheConfig: the page does not speak of it, and the reading stays as it was.
func TestWhatLeftTheConfig(t *testing.T) {
	o := webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
		o.Sources = append(o.Sources, reconcile.SourceSeen{Name: "listing:old"}, reconcile.SourceSeen{Name: "credential:old"})
		o.Templates = append(o.Templates, reconcile.TemplateSeen{Provider: "old", Name: "x", State: reconcile.TemplateInactive})
	})
	cases := map[string]struct {
		change    func(*reconcile.Policy)
		sources   string
		templates int
	}{
		"a provider left": {func(*reconcile.Policy) {}, "events link listing:daytona probes:daytona tasks", 1},
		"probes are off": {func(p *reconcile.Policy) {
			p.Providers = map[string]reconcile.ProviderPolicy{"daytona": {Probe: reconcile.ProbePolicy{Off: true}}}
		}, "events link listing:daytona tasks", 1},
		"events are gone":           {func(p *reconcile.Policy) { p.Tasks = reconcile.TasksPolicy{} }, "link listing:daytona probes:daytona tasks", 1},
		"tasks are gone":            {func(p *reconcile.Policy) { p.Tasks = reconcile.TasksPolicy{None: true} }, "listing:daytona probes:daytona", 1},
		"another provider came":     {func(p *reconcile.Policy) { p.Providers = map[string]reconcile.ProviderPolicy{"new": {}} }, "events link tasks", 0},
		"nobody told what is there": {func(p *reconcile.Policy) { p.Providers = nil }, "events link listing:daytona probes:daytona tasks listing:old credential:old", 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := webtest.Policy()
			c.change(&p)
			s := newScene(&o, p, nil)
			var names []string
			for _, src := range s.Sources {
				names = append(names, src.Name)
			}
			if got := strings.Join(names, " "); got != c.sources || len(s.Templates) != c.templates {
				t.Errorf("sources %q, %d templates; want %q, %d", got, len(s.Templates), c.sources, c.templates)
			}
			if len(o.Sources) != 7 || len(o.Templates) != 2 || o.Sources[6].Name != "credential:old" {
				t.Error("the reading was changed, which others look at too")
			}
		})
	}
}

// TestModesWithoutTasks: a rule that can find nothing is not shown as armed.
func TestModesWithoutTasks(t *testing.T) {
	s := sceneOf(reconcile.Overview{Now: webtest.Noon})
	s.policy.Tasks = reconcile.TasksPolicy{None: true}
	want := []modeLine{{"observe", "provisioning-stuck, idle-broken, template-unusable"}, {"off", "errored"}}
	if diff := cmp.Diff(want, s.rules.modeLines()); diff != "" {
		t.Errorf("modeLines (-want +got):\n%s", diff)
	}
}

// TestManyAlike: of forty findings of one rule a few are shown, and the rest is a link.
func TestManyAlike(t *testing.T) {
	o := webtest.Healthy()
	for i := range 40 {
		o.Findings = append(o.Findings, reconcile.FindingSeen{OpenedAt: webtest.Noon, Finding: reconcile.Finding{Rule: "orphan", Provider: "daytona",
			Subject: fmt.Sprintf("sandbox:daytona/sb-%d", i), Sandbox: fmt.Sprintf("sb-%d", i), Reason: fmt.Sprintf("no task explains sb-%d", i)}})
	}
	o.FindingsOpen = map[string]int{"orphan": 43, "errored": 1}
	for i := range o.Findings {
		o.Findings[i].Due = true
	}
	items := sceneOf(o).attention()
	if len(items) != mostOfRule+1 || items[mostOfRule].Text.Text != "And 35 more of orphan" || items[mostOfRule].Text.Href != "findings?rule=orphan" {
		t.Errorf("%d lines, the last %+v", len(items), items[len(items)-1])
	}
}
