package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestTemplateDrafts: with the remedy activate an inactive template is activated, and nothing
// else is.
func TestTemplateDrafts(t *testing.T) {
	const on = "rule template-unusable remedy=activate; "
	const inactive = "template daytona/light inactive; "
	for name, test := range map[string]struct{ world, want string }{
		"inactive":               {on + inactive, "activate template:daytona/light"},
		"active":                 {on + "template daytona/light active", ""},
		"about to be inactive":   {on + "template daytona/light active expires=-1h", ""},
		"building":               {on + "template daytona/light building", ""},
		"failed":                 {on + "template daytona/light failed", ""},
		"missing":                {on + "template daytona/light missing", ""},
		"not measured":           {on + `template daytona/light ""`, ""},
		"two of them":            {on + inactive + "template daytona/dark inactive", "activate template:daytona/light, activate template:daytona/dark"},
		"the remedy is report":   {inactive, ""},
		"the rule observes":      {on + inactive + "rule template-unusable mode=observe", "activate template:daytona/light [observe]"},
		"the rule is off":        {on + inactive + "rule template-unusable mode=off", ""},
		"the rule was lowered":   {on + inactive + "mode template-unusable observe", "activate template:daytona/light [observe]"},
		"all is paused":          {on + inactive + "pause all reason=release", "activate template:daytona/light [pause: all (release)]"},
		"the provider is paused": {on + inactive + "pause provider:daytona", "activate template:daytona/light [pause: provider:daytona]"},
		"the provider is held":   {on + inactive + "hold provider:daytona", "activate template:daytona/light [hold: provider:daytona]"},
		"another is held":        {on + inactive + "hold provider:e2b", "activate template:daytona/light"},
		"not rolled out":         {on + inactive + "rule template-unusable rollout=0", "activate template:daytona/light [rollout: 0%]"},
		"planned before":         {on + inactive + "action a1 template-unusable template:daytona/light activate", "activate template:daytona/light"},
		"under way":              {on + inactive + "action a1 template-unusable template:daytona/light activate claimed=1m attempts=1", ""},
		"another is under way": {
			on + inactive + "action a1 template-unusable template:daytona/dark activate claimed=1m attempts=1", "activate template:daytona/light"},
		"in a quick pass": {"pass quick; source listing:daytona trusted; " + on + inactive, ""},
	} {
		j := JudgeWorld(worldtest.NewWorld(t, test.world))
		var got []string
		for _, r := range templateDrafts(j.View, j) {
			a := r.steps[0]
			text := string(a.Step) + " " + a.Subject
			if len(r.holds) > 0 {
				text += " [" + r.holds.String() + "]"
			}
			if !r.rowOnly || len(r.steps) != 1 || a.Provider != "daytona" || a.Rule != "template-unusable" || a.Reason == "" {
				t.Errorf("%s: %+v, want one step at its provider, free of share", name, r)
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: drafts %q, want %q", name, got, test.want)
		}
	}
}
