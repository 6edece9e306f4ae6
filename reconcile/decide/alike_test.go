package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestAlike: what nobody explains is told with what its group alone has in common.
func TestAlike(t *testing.T) {
	const old = "finding orphan sandbox:daytona/g1 first=5m last=1m sighted=1m sightings=2; "
	const company = "task t1 running started=1h; box daytona/s1 running task=t1 template=agent label.env=prod created=1h; "
	for name, c := range map[string]struct{ world, want string }{
		"three gateways": {
			"box daytona/g{1..3} running created=9h template=gateway label.env=prod label.role=gw", "label role=gw, template gateway"},
		"two of them":  {"box daytona/g{1..2} running created=9h template=gateway", ""},
		"all the same": {"box daytona/g{1..3} running created=9h template=agent label.env=prod", ""},
		"each other": {
			"box daytona/g1 running created=9h label.n=1; box daytona/g2 running created=9h label.n=2; box daytona/g3 running created=9h label.n=3", ""},
		"foreign ones": {"box daytona/g1 running created=9h; box daytona/g{2..4} running created=9h owned=no template=gateway", ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := JudgeWorld(worldtest.NewWorld(t, company+old+c.world))
			var said []string
			for _, d := range j.Decisions {
				for _, f := range d.Findings {
					for _, e := range f.Evidence {
						if f.Rule == "orphan" && f.Subject == reconcile.BoxSubject(reconcile.Ref{Provider: "daytona", ID: "g1"}) && strings.Contains(e.Fact, "in common") {
							said = append(said, e.Fact)
						}
					}
				}
			}
			if got := strings.Join(said, "|"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("evidence %q, want %q", got, c.want)
			}
		})
	}
}
