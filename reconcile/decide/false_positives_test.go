package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestRegret: life after a verdict that called a task dead 10 minutes ago.
func TestRegret(t *testing.T) {
	const (
		failed   = "verdict heartbeat-lost task:t1 ago=10m failed=10m sign=12m sandbox=s1 session=c1 attempts=1; "
		observed = "verdict heartbeat-lost task:t1 ago=10m enforced=no sign=12m sandbox=s1 session=c1 attempts=1; "
		unnamed  = "verdict heartbeat-lost task:t1 ago=10m failed=10m sign=12m sandbox=s1; "
		row      = "row t1 failed updated=10m attempts=1/3 error=\"silent [sandkeeper x1]\" "
		same     = " sandbox=s1 session=c1 attempts=1/3 "
	)
	for name, c := range map[string]struct {
		world string
		want  string // "", over, or a part of what was seen
	}{
		"it stays dead": {failed + row + same, ""},
		"its columns are cleared, and it stays dead": {failed + row, ""},
		"a life sign":                         {failed + row + same + "ev.heartbeat=9m", "seen alive"},
		"a life sign, its columns cleared":    {failed + row + "ev.heartbeat=9m", "seen alive"},
		"the sign that was known":             {failed + row + same + "ev.heartbeat=12m", ""},
		"a sign from before the verdict":      {failed + row + same + "ev.heartbeat=11m", ""},
		"a sign of the moment of the verdict": {failed + row + same + "ev.heartbeat=10m", ""},
		"a sign from the future that was known": {
			"verdict heartbeat-lost task:t1 ago=10m failed=10m sign=-1h; row t1 failed ev.heartbeat=-1h", ""},
		"its row was touched, no more":         {failed + row + same + "activity=10m", ""},
		"activity is the row's own clock":      {failed + "row t1 failed updated=5m activity=5m heartbeat=5m error=\"[sandkeeper x1]\"" + same, ""},
		"activity has a clock of its own":      {failed + "row t1 failed updated=9m activity=5m error=\"[sandkeeper x1]\"" + same, "seen alive"},
		"it was completed":                     {failed + "row t1 completed updated=1m" + same, "completed"},
		"it was completed, columns cleared":    {failed + "row t1 completed updated=1m attempts=1/3", "completed"},
		"it was stopped by a person":           {failed + "row t1 stopped updated=1m ev.heartbeat=1m" + same, "over"},
		"it is gone":                           {failed, "over"},
		"it runs again in the same sandbox":    {failed + "task t1 running started=1h" + same, "again in the same sandbox"},
		"it is pending again":                  {failed + "task t1 pending" + same, "over"},
		"another attempt":                      {failed + "task t1 running started=1m ev.heartbeat=9s sandbox=s1 attempts=2/3", "over"},
		"another sandbox":                      {failed + "task t1 running started=1h ev.heartbeat=9s sandbox=s2 session=c1 attempts=1/3", "over"},
		"another session":                      {failed + "task t1 running started=1h ev.heartbeat=9s sandbox=s1 session=c2 attempts=1/3", "over"},
		"another attempt that was completed":   {failed + "row t1 completed updated=1m sandbox=s2 attempts=2/3", "over"},
		"begun anew without a sandbox yet":     {failed + "task t1 assigned attempts=1/3", "over"},
		"begun anew and completed":             {failed + "row t1 completed updated=1m started=5m attempts=1/3", "over"},
		"our requeue that nobody took up":      {failed + "task t1 pending attempts=2/3 error=\"silent [sandkeeper x1]\"", ""},
		"our requeue that was taken up":        {failed + "task t1 assigned attempts=2/3 error=\"silent [sandkeeper x1]\"", "over"},
		"it was not looked at":                 {failed + "unread t1; knew task t1 failed", ""},
		"the task table is not trusted":        {failed + row + same + "ev.heartbeat=9m; tasks standby", ""},
		"observed, and it lives on":            {observed + "task t1 running started=1h ev.heartbeat=9m" + same, "seen alive"},
		"observed, and it stays silent":        {observed + "task t1 running started=1h ev.heartbeat=12m" + same, ""},
		"observed, and it was completed":       {observed + "row t1 completed updated=1m" + same, "completed"},
		"observed, and the platform failed it": {observed + "row t1 failed updated=1m" + same, ""},
		"observed, and it was handed out anew": {observed + "task t1 running started=1m ev.heartbeat=9s sandbox=s2 attempts=2/3", "over"},
		"observed, and its columns come late": {
			"verdict assigned-stale task:t1 ago=10m enforced=no; task t1 running started=9m ev.started=9m sandbox=s1 session=c1", "seen alive"},
		"failed, and the late starter writes to it": {
			"verdict assigned-stale task:t1 ago=10m failed=10m; row t1 failed started=9m ev.started=9m sandbox=s1 session=c1 " +
				"error=\"[sandkeeper x1]\"", "seen alive"},
		"failed, and then begun anew": {
			"verdict assigned-stale task:t1 ago=10m failed=10m; task t1 running started=9m ev.started=9m sandbox=s1 session=c1", "over"},
		"inactive, and heartbeats go on": {
			"verdict inactive task:t1 ago=10m failed=10m sign=30m sandbox=s1 session=c1 attempts=1; " + row + same + "ev.heartbeat=9m", ""},
		"inactive, and it works on": {
			"verdict inactive task:t1 ago=10m failed=10m sign=30m sandbox=s1 session=c1 attempts=1; " + row + same + "ev.activity=9m", "seen alive"},
		"started anew in a sandbox of the same name": {
			unnamed + "task t1 running started=1m updated=1m ev.started=1m sandbox=s1", "over"},
		"started anew, its attempts and its session kept": {
			failed + "task t1 running started=1m updated=1m ev.started=1m" + same, "over"},
		"never started, and started anew in a sandbox of the same name": {
			"verdict assigned-stale task:t1 ago=10m failed=10m sandbox=s1; task t1 running started=1m ev.started=1m sandbox=s1", "over"},
		"started anew by an event alone": {unnamed + "task t1 running started=1h updated=1m ev.started=1m sandbox=s1", "over"},
		"started anew by the row alone":  {unnamed + "task t1 running started=1m updated=1m sandbox=s1", "over"},
		"begun at the very moment of the verdict": {
			failed + "task t1 running started=10m updated=1m" + same, "again in the same sandbox"},
		"started anew, completed":          {failed + "row t1 completed updated=1m started=5m" + same, "over"},
		"started anew, and we failed it":   {failed + row + same + "started=5m ev.heartbeat=4m", "over"},
		"handed out anew, same sandbox":    {failed + "task t1 assigned ev.heartbeat=9s" + same, "over"},
		"pending again, a heartbeat":       {failed + "task t1 pending ev.heartbeat=9s" + same, "over"},
		"pending, carrying our mark still": {failed + "task t1 pending error=\"silent [sandkeeper x1]\"" + same, "over"},
		"running, and nothing tells since when": {
			failed + "task t1 running updated=1m ev.heartbeat=9s" + same, "over"},
		"running on, activity is the row's clock": {
			"verdict heartbeat-lost task:t1 ago=10m failed=10m sign=12m; task t1 running started=1h updated=1m activity=1m", ""},
		"set back to pending, activity is the row's clock":  {unnamed + "task t1 pending updated=1m activity=1m sandbox=s1", "over"},
		"set back to pending, heartbeat is the row's clock": {unnamed + "task t1 pending updated=1m heartbeat=1m sandbox=s1", "over"},
		"handed out, activity is the row's clock":           {unnamed + "task t1 assigned updated=1m activity=1m sandbox=s1", "over"},
		"touched by a person, a status of a fork":           {unnamed + "row t1 unknown updated=1m activity=1m sandbox=s1", ""},
		"its sandbox ended, and started anew in one of the same name": {
			"verdict assigned-stale task:t1 ago=10m acted=10m sandbox=s1; task t1 running started=1m ev.started=1m sandbox=s1", "over"},
		"its sandbox ended, its row as it was": {
			"verdict heartbeat-lost task:t1 ago=10m acted=10m sign=12m sandbox=s1; task t1 running started=1h sandbox=s1", ""},
		"its sandbox ended, and its worker speaks": {
			"verdict heartbeat-lost task:t1 ago=10m acted=10m sign=12m sandbox=s1; task t1 running started=1h ev.heartbeat=9m sandbox=s1", "seen alive"},
		"observed, and set back to pending": {
			"verdict inactive task:t1 ago=10m enforced=no sign=12m sandbox=s1; task t1 pending updated=1m activity=1m sandbox=s1", "over"},
		"observed, handed out, activity is the row's clock": {
			"verdict assigned-stale task:t1 ago=10m enforced=no; task t1 assigned updated=1m activity=1m", ""},
		"observed, at work, activity is the row's clock": {
			"verdict inactive task:t1 ago=10m enforced=no sign=12m sandbox=s1; task t1 running updated=1m activity=1m sandbox=s1", "seen alive"},
		"observed, and started anew": {observed + "task t1 running started=5m ev.heartbeat=9s" + same, "over"},
		"a rule that does not call it dead": {
			"verdict deadline-exceeded task:t1 ago=10m failed=10m; " + row + "ev.heartbeat=9m", ""},
		"a regret already":                     {"verdict heartbeat-lost task:t1 ago=10m failed=10m regret=5m; " + row + "ev.heartbeat=9m", ""},
		"over already":                         {"verdict heartbeat-lost task:t1 ago=10m failed=10m over=yes; " + row + "ev.heartbeat=9m", ""},
		"just within the watch":                {"verdict heartbeat-lost task:t1 ago=119m task=119m failed=10m; row t1 failed ev.heartbeat=9m", "seen alive"},
		"two hours ago":                        {"verdict heartbeat-lost task:t1 ago=2h task=2h failed=10m; row t1 failed ev.heartbeat=9m", ""},
		"a quick pass of a live task":          {"pass quick; " + observed + "task t1 running started=1h ev.heartbeat=9m" + same, "seen alive"},
		"a sign from the future":               {failed + row + same + "ev.heartbeat=-6s", ""},
		"a sign as far ahead as clocks differ": {failed + row + same + "ev.heartbeat=-5s", "seen alive"},
	} {
		t.Run(name, func(t *testing.T) {
			j := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, "source listing:daytona trusted; watched since=3h", strings.ReplaceAll(c.world, "started=1h", "started=1h updated=1h")))
			got := ""
			switch {
			case len(j.Over) > 0:
				got = "over"
			case len(j.FalsePositives) > 0:
				got = j.FalsePositives[0].What
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) || len(j.Over)+len(j.FalsePositives) > 1 {
				t.Errorf("saw %q, want %q\nworld: %s", got, c.want, c.world)
			}
		})
	}
}

// TestDemotion: a rule whose regrets are more than 2% of its last verdicts, and at least 3,
// goes back to observe. The ledger knows some regrets already, this pass sees others.
func TestDemotion(t *testing.T) {
	regrets := func(n int, more string) string {
		return fmt.Sprintf("verdict heartbeat-lost task:b{1..%d} ago=10m %s; row b{1..%d} failed ev.heartbeat=5m "+
			"error=\"[sandkeeper x]\"; ", n, more, n)
	}
	tally := func(verdicts, regrets int) string {
		return fmt.Sprintf("tally heartbeat-lost verdicts=%d regrets=%d; ", verdicts, regrets)
	}
	for name, c := range map[string]struct {
		world string
		want  bool
	}{
		"three of a hundred":                      {tally(100, 2) + regrets(1, "failed=10m"), true},
		"three of a hundred at once":              {tally(100, 0) + regrets(3, "failed=10m"), true},
		"two of a hundred":                        {tally(100, 1) + regrets(1, "failed=10m"), false},
		"two of fifty: too few to prove":          {tally(50, 1) + regrets(1, "failed=10m"), false},
		"two of two: too few to prove":            {tally(2, 1) + regrets(1, "failed=10m"), false},
		"three that rule before it was armed":     {"tally heartbeat-lost armed=3; " + regrets(3, "failed=10m"), false},
		"three of five, two of them forgiven":     {"tally heartbeat-lost armed=2; " + regrets(5, "failed=10m"), true},
		"two of five, three of them forgiven":     {"tally heartbeat-lost armed=3; " + regrets(5, "failed=10m"), false},
		"another rule was armed since":            {"tally inactive armed=9; " + regrets(3, "failed=10m"), true},
		"three of three":                          {tally(3, 2) + regrets(1, "failed=10m"), true},
		"exactly two percent":                     {tally(150, 2) + regrets(1, "failed=10m"), false},
		"a little more than that":                 {tally(149, 2) + regrets(1, "failed=10m"), true},
		"no news":                                 {tally(100, 9), false},
		"observed verdicts only":                  {tally(0, 0) + regrets(9, "enforced=no"), false},
		"enforced and never carried out":          {tally(0, 0) + regrets(9, ""), false},
		"three sandboxes ended, their rows left":  {tally(0, 0) + regrets(3, "acted=10m"), true},
		"failed by us when the rule was observed": {tally(0, 0) + regrets(9, "failed=10m enforced=no"), false},
		"a rule that only observes":               {"rule heartbeat-lost mode=observe; " + tally(100, 9) + regrets(9, "failed=10m"), false},
		"a rule that was lowered":                 {"mode heartbeat-lost observe; " + tally(100, 9) + regrets(9, "failed=10m"), false},
		"of another rule":                         {"tally inactive verdicts=100 regrets=9; " + tally(100, 0) + regrets(2, "failed=10m"), false},
	} {
		t.Run(name, func(t *testing.T) {
			j := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			got := len(j.Demoted) == 1 && j.Demoted[0].Rule == "heartbeat-lost" &&
				strings.Contains(j.Demoted[0].Reason, "sandkeeper mode heartbeat-lost clear")
			if got != c.want || len(j.Demoted) > 1 {
				t.Errorf("demoted = %+v, want heartbeat-lost: %v", j.Demoted, c.want)
			}
		})
	}
}

// TestDemotedAtOnce: what the rule called for in the very pass is held.
func TestDemotedAtOnce(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, deadWorker, "tally heartbeat-lost verdicts=3 regrets=3",
		"verdict heartbeat-lost task:b1 ago=10m failed=10m; row b1 failed ev.heartbeat=5m error=\"[sandkeeper x]\"")
	j, p := PlanWorld(w)
	if len(j.Demoted) != 1 || len(p.Actions) != 0 || len(p.Steps) != 2 || p.Steps[0].HeldBy.String() != "observe" {
		t.Errorf("demoted %v, steps %q, actions %v; want the remedy held by observe", j.Demoted, stepLines(p), p.Actions)
	}
}

// TestWatchIsBounded: of many verdicts the newest are watched.
func TestWatchIsBounded(t *testing.T) {
	m := reconcile.Memory{Now: worldtest.LedgerNow}
	for i := range reconcile.WatchMost + 9 {
		m.Verdicts = append(m.Verdicts, reconcile.Verdict{Number: int64(i), Rule: "inactive", Task: "t", At: worldtest.LedgerNow.Add(-time.Minute)})
	}
	if got := view.MemoryWatched(&m); len(got) != reconcile.WatchMost || got[0].Number != 9 {
		t.Errorf("%d are watched, the first is %d; want the newest %d", len(got), got[0].Number, reconcile.WatchMost)
	}
}

// TestWatchedRowsAreRead: by key, in full passes, when they are not live any more.
func TestWatchedRowsAreRead(t *testing.T) {
	for kind, want := range map[reconcile.PassKind]bool{reconcile.Full: true, reconcile.Quick: false} {
		w := worldtest.NewWorld(t, "verdict heartbeat-lost task:t1 ago=10m failed=10m; verdict heartbeat-lost task:t2 ago=10m; "+
			"task t2 running")
		w.S.Kind = kind
		ids, _ := view.WantedRows(&w.S, &w.P, map[string]bool{"t2": true}, nil)
		if got := slices.Contains(ids, "t1"); got != want || slices.Contains(ids, "t2") {
			t.Errorf("a %s pass reads %v by key, want t1: %v", kind, ids, want)
		}
	}
}
