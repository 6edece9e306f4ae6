package alerts

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestAlarms: what people are told of, and on which side of each bound they are not.
func TestAlarms(t *testing.T) {
	p := options().Policy()
	hold := func(left time.Duration) reconcile.Hold {
		return reconcile.Hold{ID: 7, Target: "task:1", Author: "ana", Reason: "debugging", Until: noon.Add(left)}
	}
	for name, c := range map[string]struct {
		m    reconcile.Measures
		want []string
	}{
		"an empty ledger": {},
		"a pass of now": {m: reconcile.Measures{Passes: map[reconcile.PassKind]reconcile.PassSeen{
			reconcile.Full: {EndedAt: noon.Add(-8 * time.Minute)}}}},
		"no pass for more than three intervals": {m: reconcile.Measures{Passes: map[reconcile.PassKind]reconcile.PassSeen{
			reconcile.Full: {EndedAt: noon.Add(-8*time.Minute - time.Second)}}}, want: []string{"critical pass-stale"}},
		"incidents, open and closed": {m: reconcile.Measures{Controls: reconcile.Controls{Incidents: []reconcile.Incident{
			{ID: "i-1", Rule: "errored", Count: 5}, {ID: "i-2", ClosedAt: noon}}}}, want: []string{"critical incident:i-1"}},
		"a breaker": {m: reconcile.Measures{Controls: reconcile.Controls{Breakers: map[string]reconcile.Breaker{"orphan": {}}}},
			want: []string{"critical breaker:orphan"}},
		"rules lowered by itself and by a person": {m: reconcile.Measures{Controls: reconcile.Controls{
			Modes: map[string]reconcile.Mode{"inactive": reconcile.Observe, "orphan": reconcile.Observe},
			Lowered: map[string]reconcile.Lowering{
				"inactive": {Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf, Reason: "3 of 100"}},
				"orphan":   {Attribution: reconcile.Attribution{Author: "ana"}}}}}, want: []string{"critical rule-auto-disabled:inactive"}},
		"sources": {m: reconcile.Measures{Sources: []reconcile.SourceSeen{
			{Name: "tasks", Since: noon.Add(-30 * time.Minute)}, {Name: "events", Since: noon.Add(-29 * time.Minute)},
			{Name: "link", Trusted: true, Since: noon.Add(-time.Hour)}, {Name: "clock:daytona", Since: noon.Add(-time.Hour)},
			{Name: "credential:daytona", Since: noon.Add(-5 * time.Minute)}, {Name: "listing:gone", Since: noon.Add(-time.Hour)}}},
			want: []string{"warning freeze:tasks", "warning credential:credential:daytona"}},
		"a key that was refused once more a moment ago": {m: reconcile.Measures{Sources: []reconcile.SourceSeen{
			{Name: "credential:daytona", Since: noon.Add(-time.Second)}, {Name: "listing:daytona", Since: noon.Add(-6 * time.Minute)}}},
			want: []string{"warning credential:credential:daytona"}},
		"a key that is refused since a moment ago": {m: reconcile.Measures{Sources: []reconcile.SourceSeen{
			{Name: "credential:daytona", Since: noon.Add(-time.Second)}, {Name: "listing:daytona", Since: noon.Add(-time.Second)},
			{Name: "listing:e2b", Since: noon.Add(-6 * time.Minute)}}}},
		"false positives": {m: reconcile.Measures{Tallies: map[string]reconcile.Tally{"inactive": {Verdicts: 9, FalsePositives: 1},
			"errored": {Verdicts: 9}}}, want: []string{"warning false-positives:inactive"}},
		"a hold that ends soon":       {m: reconcile.Measures{Controls: reconcile.Controls{Holds: []reconcile.Hold{hold(time.Hour)}}}, want: []string{"warning hold-ends:7"}},
		"a hold that ends later":      {m: reconcile.Measures{Controls: reconcile.Controls{Holds: []reconcile.Hold{hold(time.Hour + 1)}}}},
		"a hold without an end":       {m: reconcile.Measures{Controls: reconcile.Controls{Holds: []reconcile.Hold{{Target: "task:1"}}}}},
		"what only an operator fixes": {m: reconcile.Measures{Findings: []reconcile.FindingCount{{Rule: "looping", Due: 2}, {Rule: "orphan", Due: 3}}}, want: []string{"warning attention:looping"}},
		"leaks below the limit":       {m: reconcile.Measures{Leaking: []reconcile.Money{{USD: 3}, {USD: 2}}}},
		"leaks above the limit":       {m: reconcile.Measures{Leaking: []reconcile.Money{{USD: 3}, {USD: 2.01}}}, want: []string{"critical leak-rate"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.Now = noon
			var got []string
			for _, a := range Alarms(&c.m, &p, Bounds{LeakUSD: 5, Frozen: 30 * time.Minute}) {
				got = append(got, string(a.Severity)+" "+a.Key)
				if a.Title == "" || a.Text == "" || a.Over() {
					t.Errorf("%s has no words or is over: %+v", a.Key, a)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("alarms (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAlarmsOfACanary: a late one is told of, also when it is gone since, until a later one was caught in time; and so is
// that for long none could be made. Without canaries nobody is told of what the ledger still has.
func TestAlarmsOfACanary(t *testing.T) {
	const within = 20 * time.Minute // of the options
	planted := func(id string, ago, took time.Duration) reconcile.Canary {
		c := reconcile.Canary{ID: id, Sandbox: "sb-" + id, PlantedAt: noon.Add(-ago)}
		if took > 0 {
			c.GoneAt, c.GoneByUs = c.PlantedAt.Add(took), true
		}
		return c
	}
	unmade := func(ago time.Duration) reconcile.Canary {
		return reconcile.Canary{ID: "u", PlantedAt: noon.Add(-ago), Error: "403"}
	}
	lost := planted("l", 2*time.Hour, time.Minute)
	lost.GoneByUs = false
	for name, c := range map[string]struct {
		newestFirst []reconcile.Canary
		off         bool
		want        []string
	}{
		"there for as long as it may":      {newestFirst: []reconcile.Canary{planted("1", within, 0)}},
		"there for longer":                 {newestFirst: []reconcile.Canary{planted("1", within+1, 0)}, want: []string{"canary:late 1"}},
		"caught just in time":              {newestFirst: []reconcile.Canary{planted("1", time.Hour, within)}},
		"caught late":                      {newestFirst: []reconcile.Canary{planted("1", time.Hour, within+1)}, want: []string{"canary:late 1"}},
		"caught late, the next is there":   {newestFirst: []reconcile.Canary{planted("2", 1, 0), planted("1", time.Hour, within+1)}, want: []string{"canary:late 1"}},
		"caught late, the next was caught": {newestFirst: []reconcile.Canary{planted("2", time.Hour, 1), planted("1", 2*time.Hour, within+1)}},
		"could not be made once":           {newestFirst: []reconcile.Canary{unmade(90*time.Minute - 1), planted("1", 3*time.Hour, 1)}},
		"could not be made for long":       {newestFirst: []reconcile.Canary{unmade(time.Minute), unmade(90 * time.Minute)}, want: []string{"canary:failed u"}},
		"went by somebody else":            {newestFirst: []reconcile.Canary{unmade(time.Minute), lost}, want: []string{"canary:failed l"}},
		"none is planted any more":         {newestFirst: []reconcile.Canary{planted("1", 2*within, 0), unmade(3 * time.Hour)}, off: true},
	} {
		p := options().Policy()
		if c.off {
			p.Canary = reconcile.CanaryPolicy{}
		}
		var got []string
		for _, a := range Alarms(&reconcile.Measures{Now: noon, Canaries: c.newestFirst}, &p, Bounds{}) {
			got = append(got, a.Key+" "+a.Version)
			if a.Kind != "canary" || a.Severity != reconcile.SeverityWarning || a.Title == "" || a.Text == "" {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: alarms (-want +got):\n%s", name, diff)
		}
	}
}

// TestAlarmsChange: an incident is told again when it has doubled, and not with each failure.
func TestAlarmsChange(t *testing.T) {
	p := options().Policy()
	version := func(in reconcile.Incident) string {
		m := reconcile.Measures{Now: noon, Controls: reconcile.Controls{Incidents: []reconcile.Incident{in}}}
		return Alarms(&m, &p, Bounds{})[0].Version
	}
	of := []string{version(reconcile.Incident{Count: 5}), version(reconcile.Incident{Count: 7}), version(reconcile.Incident{Count: 8}),
		version(reconcile.Incident{Count: 8, ReleasedAt: noon}), version(reconcile.Incident{Count: 8, Cause: "the template"})}
	if of[0] != of[1] || len(slices.Compact(of)) != 4 {
		t.Errorf("versions %q: want the first two alike and all others different", of)
	}
}
