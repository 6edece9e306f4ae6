package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// What its provider has on record of a sandbox's end needs no second look, if the record is of the run that the task
// was in. That there is none says nothing.
func TestRecordOfTheEnd(t *testing.T) {
	const task = "provider daytona id=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; "
	const knew = "knew box daytona/s1 running task=t1 created=1h"
	const gone = "; look daytona/s1 gone; find t1 none"
	const died = "; look daytona/s1 gone died=30s why=oom asked=ana; find t1 none"
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"no record": {task + knew + gone, "seen", ""},
		"a record": {task + knew + died, "due",
			"sandbox is gone: sandbox s1 at daytona is gone; its provider has on record that it ended at "},
		"its words":                       {task + knew + died, "due", "(oom, by ana)"},
		"stopped":                         {task + knew + "; box daytona/s1 stopped task=t1 key=s1; look daytona/s1 stopped task=t1 key=s1 died=30s", "due", "on record"},
		"stopped, without a record":       {task + knew + "; box daytona/s1 stopped task=t1 key=s1; look daytona/s1 stopped task=t1 key=s1", "seen", ""},
		"it runs":                         {task + knew + "; look daytona/s1 running task=t1 key=s1 died=30s", "healthy", ""},
		"it was found to come back since": {task + knew + " resumed=29s" + died, "seen", ""},
		"it ended after it came back":     {task + knew + " resumed=30s" + died, "due", ""},
		"of the attempt before": {strings.Replace(task, "started=1h updated=1h ev.heartbeat=2m", "started=59s updated=59s", 1) + knew +
			"; look daytona/s1 gone died=1m; find t1 none", "seen", ""},
		"at the begin of this attempt": {strings.Replace(task, "started=1h updated=1h ev.heartbeat=2m", "started=1m updated=1m", 1) + knew +
			"; look daytona/s1 gone died=1m; find t1 none", "due", ""},
		"from before it was made":           {task + "knew box daytona/s1 running task=t1 created=10s; look daytona/s1 gone died=30s; find t1 none", "seen", ""},
		"of the future":                     {task + knew + "; look daytona/s1 gone died=-1h; find t1 none", "seen", ""},
		"its provider's clock is off":       {task + knew + "; listing daytona off=-10m" + died, "seen", ""},
		"one of two has a record":           {task + knew + "; knew box daytona/s2 running task=t1; look daytona/s2 gone" + died, "seen", ""},
		"both have":                         {task + knew + "; knew box daytona/s2 running task=t1; look daytona/s2 gone died=31s" + died, "due", ""},
		"a longer threshold is over":        {"rule sandbox-missing after=31s; " + task + knew + "; look daytona/s1 gone died=31s; find t1 none", "due", ""},
		"a longer threshold is not":         {"rule sandbox-missing after=31s; " + task + knew + died, "seen", ""},
		"its worker spoke within the limit": {strings.Replace(task, "heartbeat=2m", "heartbeat=90s", 1) + knew + died, "kept", "last seen 1m30s ago"},
		"a later one of its name may go on": {"pass quick; source listing:daytona trusted; provider daytona nameslast=yes; " + task + knew + died,
			"kept", "a later one of its name may go on"},
		"a later one of its name may have gone on until now": {"provider daytona nameslast=yes; " + strings.Replace(task+knew, "created=1h",
			"created=1h gone=1m", 1) + died, "seen", "on record"},
	})
	// Rows hold the name of a sandbox, which is brought back in a later run by the next command: the record is of one run.
	const named = "provider daytona name=yes nameslast=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=w1; " +
		"knew box daytona/s1 running task=t1 name=w1 created=1h; box daytona/s1 stopped task=t1 key=w1; look daytona/s1 stopped task=t1 key=w1 died="
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"a run of its name is over": {named + "29s", "seen", "on record"},
		"and none came for as long": {named + "30s", "due", "on record"},
		"a shorter threshold":       {"rule sandbox-missing after=3s; " + named + "3s", "due", "on record"},
		"a shorter one is not over": {"rule sandbox-missing after=3s; " + named + "2s", "seen", "on record"},
	})
	const assigned = "provider daytona id=yes; task t1 assigned updated=9s sandbox=s1; knew task t1 assigned since=9s; "
	const came = "knew box daytona/s1 running task=t1 since=8s first=8s; "
	testRule(t, "assigned-stale", map[string]ruleCase{
		"no record":         {assigned + came + "look daytona/s1 gone", "kept", "assigned for 9s of 20s"},
		"a record":          {assigned + came + "look daytona/s1 gone died=5s", "due", "its provider has on record"},
		"of the one before": {assigned + came + "look daytona/s1 gone died=10s", "kept", "assigned for 9s of 20s"},
		"a label alone links it": {strings.ReplaceAll(assigned, "sandbox=s1", "") + came + "look daytona/s1 gone died=5s; find t1 none",
			"kept", "assigned for 9s of 3m"},
	})
}

// The reason that a provider gave is what failures are grouped by, and is the evidence.
func TestRecordIsTheCause(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "provider daytona id=yes; task t1 running started=1h updated=1h ev.heartbeat=2m sandbox=s1; "+
		"knew box daytona/s1 running task=t1 created=1h; look daytona/s1 gone died=30s why=OutOfMemory; find t1 none")
	w.Only("sandbox-missing")
	j := JudgeWorld(w)
	for i := range j.Verdicts {
		if v := &j.Verdicts[i]; v.Subject == "task:t1" && v.Error != "outofmemory" {
			t.Errorf("the error of the verdict is %q, want the provider's reason", v.Error)
		}
	}
	if len(j.Verdicts) != 1 {
		t.Fatalf("%d verdicts, want one", len(j.Verdicts))
	}
	for i := range j.Decisions {
		for _, f := range j.Decisions[i].Findings {
			for _, e := range f.Evidence {
				if strings.Contains(e.Fact, "audit log of s1: its provider has on record") && e.Source == "daytona" && !e.At.IsZero() {
					return
				}
			}
		}
	}
	t.Error("the record is no evidence of the finding")
}
