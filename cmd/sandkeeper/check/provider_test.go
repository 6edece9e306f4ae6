package check

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/providers/empty"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// sound is a config without a mistake.
const sound = `installation: prod
database: postgres://db.example/x
tasks: {preset: omoios}
providers:
  - name: daytona
    kind: daytona
    token: t0ken
    owns: {labels: {project: omoios}}
    link: {task_label: task_id}
`

// parsed is the config of that text.
func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("c.yaml", []byte(text), os.LookupEnv)
	if err != nil {
		t.Fatalf("Parse of\n%s\n%v", text, err)
	}
	return c
}

// TestCheckSaysWhatAProviderLacks: a rule that asks for more than the provider can do would
// wait for ever.
func TestCheckSaysWhatAProviderLacks(t *testing.T) {
	quarantine := "rules: {orphan: {remedy: quarantine}, errored: {remedy: quarantine, mode: enforce}}\n"
	plain, stopping := reconcile.Capabilities{}, reconcile.Capabilities{Suspender: &empty.Provider{}}
	cases := map[string]struct {
		rules  string
		p      reconcile.Capabilities
		want   []string // what is lacking, whether that is in order, for which rules
		others []reconcile.Capabilities
	}{
		"nothing is asked for": {rules: "", p: plain},
		"it cannot stop":       {rules: quarantine, p: plain, want: []string{"quarantine ok=false orphan, errored"}},
		"no other can either": {quarantine, plain, []string{"quarantine ok=false orphan, errored"},
			[]reconcile.Capabilities{plain}},
		"another can": {quarantine, plain, []string{"quarantine ok=true orphan, errored"},
			[]reconcile.Capabilities{plain, stopping}},
		"it can stop": {rules: quarantine, p: stopping},
		"a stop deletes some": {quarantine, reconcile.Capabilities{Suspender: &empty.Provider{}, StopMayDelete: true},
			[]string{"quarantine ok=true orphan, errored"}, nil},
		"a stop deletes some, and nothing is to be stopped": {"", reconcile.Capabilities{
			Suspender: &empty.Provider{}, StopMayDelete: true}, nil, nil},
		"the rules are off": {rules: "rules: {orphan: {remedy: quarantine, mode: off}}\n", p: plain},
		"it has no templates": {rules: "rules: {template-unusable: {remedy: activate}}\n", p: plain,
			want: []string{"activate ok=false template-unusable"}},
		"it has templates": {rules: "rules: {template-unusable: {remedy: activate}}\n", p: reconcile.Capabilities{
			Templates: &empty.Provider{}}},
		"it knows no quota": {rules: "rules: {capacity: {make_room: true}}\n", p: plain, want: []string{"make_room ok=true"}},
		"it knows its quota": {rules: "rules: {capacity: {make_room: true}}\n", p: reconcile.Capabilities{
			Quotas: &empty.Provider{}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, line := range lacking(parsed(t, sound+c.rules).Policy(), c.p, c.others) {
				_, rules, _ := strings.Cut(line.Said, ": ")
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s ok=%v %s", line.What, line.OK, rules)))
				if line.Fix == "" {
					t.Errorf("%s has no fix", line.What)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
		})
	}
}

// TestCheckSaysWhatBecomesOfLinkless: who does not say that each sandbox has the link is told what
// that means, and needs to do nothing.
func TestCheckSaysWhatBecomesOfLinkless(t *testing.T) {
	for text, want := range map[string]int{
		sound: 1,
		strings.Replace(sound, "task_label: task_id", "task_label: task_id, required: true", 1): 0,
		strings.Replace(sound, "tasks: {preset: omoios}", "tasks: none", 1):                     0,
	} {
		got := linkless(parsed(t, text).Policy(), "daytona")
		if len(got) != want || want > 0 && (!got[0].OK || got[0].Fix != "") {
			t.Errorf("lines = %+v of\n%s\nwant %d, in order", got, text, want)
		}
	}
}

// TestCheckWarnsOfWhatAnUpgradeArms: a remedy that the version before only reported is done
// from the first pass on.
func TestCheckWarnsOfWhatAnUpgradeArms(t *testing.T) {
	const rules = "rules: {orphan: {remedy: quarantine, mode: enforce}, errored: {remedy: quarantine}, " +
		"over-age: {after: 1h, remedy: quarantine, mode: enforce}, template-unusable: {remedy: activate, mode: enforce}}\n"
	for name, c := range map[string]struct {
		rules string
		have  int
		want  []string
	}{
		"of the version before": {rules, 2, []string{"quarantine: orphan, over-age", "activate: template-unusable"}},
		"of this version":       {rules, 3, nil},
		"never migrated":        {rules, 0, nil},
		"nothing is enforced":   {"rules: {orphan: {remedy: quarantine}}\n", 2, nil},
		"another remedy":        {"rules: {orphan: {mode: enforce}}\n", 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, line := range newlyDone(parsed(t, sound+c.rules).Policy(), c.have) {
				_, names, _ := strings.Cut(line.Said, ": ")
				got = append(got, line.What+": "+names)
				if !line.OK || line.Fix == "" {
					t.Errorf("line = %+v, want a warning with a fix", line)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
		})
	}
}

// TestExpiry: a template whose time is over is not announced as one that ends some day.
func TestExpiry(t *testing.T) {
	now := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		ends time.Time
		want string
	}{
		"never":         {time.Time{}, ""},
		"in a second":   {now.Add(time.Second), ", deactivated by the provider at 2026-03-01 07:00:01 UTC unless used"},
		"right now":     {now, ", was due to be deactivated by the provider at 2026-03-01 07:00:00 UTC: make a sandbox from it"},
		"six days over": {now.AddDate(0, 0, -6), ", was due to be deactivated by the provider at 2026-02-23 07:00:00 UTC: make a sandbox from it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := expiry(reconcile.Template{AsOf: now, ExpiresAt: c.ends}); got != c.want {
				t.Errorf("expiry = %q, want %q", got, c.want)
			}
		})
	}
}
