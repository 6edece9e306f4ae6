package decide

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestInactive(t *testing.T) {
	// Four others work, so that what shows activity is proven to work.
	const busy = "task w{1..4} running started=1h ev.heartbeat=5s ev.activity=5s; box daytona/w{1..4} running task=w{1..4}; "
	const dead = "probe daytona/s1 answered=1s worker=dead alive=30m; probe daytona/w1 answered=1s worker=alive; " +
		"knew task t1 running since=9h; "
	const box = "box daytona/s1 running task=t1; " + dead
	const beats = busy + box + "task t1 running started=1h ev.heartbeat=5s "
	testRule(t, "inactive", map[string]ruleCase{
		"no activity for the limit": {beats + "ev.activity=15m", "due",
			"worker is inactive for 15m, limit 15m: last activity 2026-03-01 11:45:00 UTC; last heartbeat 2026-03-01 11:59:55 UTC"},
		"no activity for a second less":     {beats + "ev.activity=14m59s", "healthy", ""},
		"the column is as good as an event": {beats + "activity=15m", "due", ""},
		"the newer of both counts":          {beats + "activity=15m ev.activity=14m", "healthy", ""},
		"activity from the future":          {beats + "ev.activity=-1h", "healthy", ""},
		"activity from the future, known for the limit": {
			beats + "ev.activity=-1h; knew task t1 running ahead=-1h aheadsince=15m", "due", ""},
		"activity from the future, known for a second less": {
			beats + "ev.activity=-1h; knew task t1 running ahead=-1h aheadsince=14m59s", "healthy", ""},
		"never active, and runs for the limit": {
			busy + box + "task t1 running started=15m ev.heartbeat=5s", "healthy", ""},
		"its activity was in an earlier attempt": {
			busy + box + "task t1 running started=14m ev.heartbeat=5s ev.activity=2h", "kept", "of which only 14m count"},
		"timed by the ledger, not by a start of an earlier attempt": {
			busy + box + "task t1 running started=2h ev.heartbeat=5s ev.activity=1h updated=1s; " +
				"knew task t1 running since=14m stale=2h", "kept", "of which only 14m count"},
		"it waits for a person":                     {beats + "ev.activity=20m ev.waiting=20m", "kept", "it waits for its user since"},
		"it waited, and went on":                    {beats + "ev.activity=19m ev.waiting=20m", "due", ""},
		"it waits, and its row was touched by that": {beats + "ev.activity=20m ev.waiting=20m activity=19m55s", "kept", "waits"},
		"its row was touched later than by that":    {beats + "ev.activity=20m ev.waiting=20m activity=19m54s", "due", ""},
		"it waited in an earlier attempt":           {beats + "ev.activity=61m ev.waiting=61m", "due", ""},
		"it waited from the start of this attempt":  {beats + "ev.activity=60m ev.waiting=60m", "kept", "waits"},
		"it never sent a heartbeat":                 {busy + box + "task t1 running started=1h ev.activity=20m", "due", "no heartbeats are sent here"},
		"it has not started":                        {busy + box + "task t1 running updated=1h", "healthy", ""},
		"assigned":                                  {busy + box + "task t1 assigned updated=1h ev.activity=1h", "healthy", ""},
		"over":                                      {busy + box + "row t1 failed ev.activity=1h", "healthy", ""},
		"unmapped":                                  {busy + box + "task t1 unknown ev.activity=1h", "healthy", ""},
		"outside of where":                          {busy + box + "row t1 running started=1h ev.activity=1h outside=yes", "healthy", ""},
		"nobody shows activity here": {
			"task w{1..4} running started=1h heartbeat=5s; " + box + "task t1 running started=1h heartbeat=5s", "healthy", ""},
		"its worker is there": {
			busy + box + "probe daytona/s1 answered=1s worker=alive; task t1 running started=1h ev.activity=20m", "probe", "its worker was there 1s ago"},
		"its sandbox answers, and tells of no worker": {
			busy + box + "probe daytona/s1 answered=1s; task t1 running started=1h ev.activity=20m", "probe", "nothing said that its worker would speak"},
		"heartbeats go on, and a probe since the last one failed": {
			busy + box + "probe daytona/s1 failed=4s; probe daytona/w1 answered=4s; task t1 running started=1h ev.heartbeat=5s ev.activity=20m", "held", "only silence: its probe failed"},
		"heartbeats go on, and three probes failed": {
			busy + box + "probe daytona/s1 failed=2m,1m,4s; probe daytona/w1 answered=4s; task t1 running started=1h ev.heartbeat=5s ev.activity=20m", "due", ""},
		"its worker was there, and beat since": {
			busy + box + "probe daytona/s1 answered=6s worker=alive; task t1 running started=1h ev.heartbeat=5s ev.activity=20m",
			"probe", "its worker was there 6s ago, and gave a sign since"},
		"its worker was there too long ago": {
			busy + box + "probe daytona/s1 answered=9h worker=alive; task t1 running started=1h ev.heartbeat=5s ev.activity=20m",
			"probe", "its sandbox is probed first"},
		"heartbeats went on after the probe that failed": {
			busy + box + "probe daytona/s1 failed=6s; probe daytona/w1 answered=4s; task t1 running started=1h ev.heartbeat=5s ev.activity=20m", "probe", "probed first"},
		"heartbeats go on, and its sandbox answers": {
			busy + box + "probe daytona/s1 answered=4s; task t1 running started=1h ev.heartbeat=5s ev.activity=20m", "held", "only silence: its probe was answered"},
		"its sandbox is coming up": {busy + dead + "box daytona/s1 creating task=t1; task t1 running started=1h ev.activity=20m", "kept", "for another rule"},
		"its sandbox is failed":    {busy + dead + "box daytona/s1 failed task=t1; task t1 running started=1h ev.activity=20m", "kept", "s1 is failed"},
		"its sandbox is paused":    {busy + dead + "box daytona/s1 suspended task=t1; task t1 running started=1h ev.activity=20m", "kept", ""},
		"its sandbox is unknown":   {busy + dead + "box daytona/s1 unknown task=t1; task t1 running started=1h ev.activity=20m", "kept", "unknown state"},
		"its sandbox is gone":      {busy + "knew box daytona/s1 running task=t1; look daytona/s1 gone; task t1 running started=1h ev.activity=20m", "kept", "s1 is gone"},
		"one is stopped, one runs": {busy + "box daytona/s0 stopped task=t1; " + box + "task t1 running started=1h ev.activity=20m", "due", ""},
		"a class with a longer limit": {
			"rule inactive when.task.type=gpu then=1h; " + beats + "ev.activity=59m59s attr.type=gpu", "healthy", ""},
		"a class with a longer limit, for that long": {
			"rule inactive when.task.type=gpu then=50m; " + beats + "ev.activity=50m attr.type=gpu", "due", ""},
		"a quick pass, its sandbox is remembered": {
			"pass quick; source listing:daytona trusted; knew box daytona/s1 running task=t1; task t1 running started=1h " +
				"ev.heartbeat=5s ev.activity=20m", "held", "only silence: no probe of its sandbox can be made"},
		"a quick pass, and its sandbox was looked at": {
			"pass quick; source listing:daytona trusted; knew box daytona/s1 running task=t1; look daytona/s1 running task=t1; " +
				dead + "task t1 running started=1h ev.heartbeat=5s ev.activity=20m", "due", ""},
	})
}

// TestInactiveTogether: silence of everybody at once kills nobody.
func TestInactiveTogether(t *testing.T) {
	const boxes = "box daytona/w{1..2} running task=w{1..2}; box daytona/s1 running task=t1; " +
		"probe daytona/s1 answered=1s worker=dead alive=30m; probe daytona/w1 answered=1s worker=alive; knew task t1 running since=9h; "
	const others = boxes + "task w{1..2} running started=9h ev.heartbeat=5s "
	const mine = "; task t1 running started=9h ev.heartbeat=5s "
	testRule(t, "inactive", map[string]ruleCase{
		"all went quiet within one limit of each other": {
			others + "ev.activity=15m1s" + mine + "ev.activity=30m", "kept", "of which only 14m59s count"},
		"all went quiet, and nobody was active for a limit": {
			others + "ev.activity=15m1s" + mine + "ev.activity=31m", "held", "activity-untrusted"},
		"all went quiet, and somebody was active for the limit": {
			others + "ev.activity=15m" + mine + "ev.activity=30m", "due", ""},
		"all went quiet, it long before them": {
			others + "ev.activity=14m" + mine + "ev.activity=29m1s", "due", ""},
		"all went quiet a moment ago, the one who was active first is not stuck": {
			others + "ev.activity=5m1s" + mine + "ev.activity=20m", "kept", "of which only 14m59s count"},
		"others were active within a third of the limit": {
			others + "ev.activity=5m" + mine + "ev.activity=15m", "due", ""},
		"two run: nobody can tell":   {boxes + "task w1 running started=9h ev.activity=20m; task t1 running started=9h ev.activity=20m", "due", ""},
		"the others wait for people": {others + "ev.activity=2h ev.waiting=2h" + mine + "ev.activity=15m", "due", ""},
		"nobody sends heartbeats, nobody has events: the rows alone": {
			"tasks eventless; " + boxes + "task w{1..2} running started=9h activity=16m; task t1 running started=9h activity=40m",
			"held", "activity-untrusted"},
		"nobody was active for the limit of the most impatient class": {
			"rule inactive when.task.type=x then=1m; " + others + "ev.activity=61s" + mine + "ev.activity=40m", "held", ""},
		"somebody was active for the limit of the most impatient class": {
			"rule inactive when.task.type=x then=1m; " + others + "ev.activity=60s" + mine + "ev.activity=40m", "due", ""},
		"a person let it go": {
			others + "ev.activity=16m" + mine + "ev.activity=40m; release activity task:t1", "due", ""},
		"activity came back a moment ago": {
			others + "ev.activity=5s" + mine + "ev.activity=40m; source activity trusted recovered=14m59s", "kept", "only 14m59s"},
		"activity came back long ago": {
			others + "ev.activity=5s" + mine + "ev.activity=40m; source activity trusted recovered=15m", "due", ""},
		"activity comes back in this pass": {
			others + "ev.activity=5s" + mine + "ev.activity=40m; source activity untrusted since=20m", "kept", ""},
		"events came back a moment ago": {
			others + "ev.activity=5s" + mine + "ev.activity=40m; source events trusted recovered=14m", "kept", ""},
		"events are out": {
			boxes + "task w{1..2} running started=9h ev.heartbeat=2m ev.activity=2m; task t1 running started=9h ev.heartbeat=91s " +
				"ev.activity=40m; rule heartbeat-lost mode=off", "held", "events-untrusted"},
		"tasks came back a moment ago": {
			others + "ev.activity=5s" + mine + "ev.activity=40m; source tasks trusted recovered=14m", "kept", ""},
	})
}

// TestActivityComesBack: after nobody was active, the first who is again does not make the
// others look stuck; one whole limit passes before inactivity counts.
func TestActivityComesBack(t *testing.T) {
	const all = "box daytona/t{1..3} running task=t{1..3}; task t{1..3} running started=9h ev.heartbeat=5s ev.activity=40m; " +
		"box daytona/w1 running task=w1; probe daytona/t{1..3} answered=1s worker=dead; probe daytona/w1 answered=1s worker=alive; "
	const one = "task w1 running started=9h ev.heartbeat=5s "
	w := worldtest.NewWorld(t)
	w.Only("inactive")
	for i, c := range []struct {
		later time.Duration
		world string
		want  string
	}{
		{0, all + one + "ev.activity=20m", "held"},
		{time.Minute, all + one + "ev.activity=5s", "kept"},
		{15*time.Minute - time.Second, all + one + "ev.activity=5s", "kept"},
		{time.Second, all + one + "ev.activity=5s", "due"},
	} {
		w.S.Memory.Now = w.S.Memory.Now.Add(c.later)
		w.Observe(worldtest.Anchor, c.world)
		j, p := PlanWorld(w)
		if got, words := said(j); got != c.want {
			t.Fatalf("look %d: inactive = %s, want %s: %s", i, got, c.want, words)
		}
		remember(w, j, p)
	}
}

// TestInactiveOrSilent: a worker whose heartbeats stopped is heartbeat-lost's, unless nobody
// judges that.
func TestInactiveOrSilent(t *testing.T) {
	const world = "task w{1..4} running started=1h ev.heartbeat=5s ev.activity=5s; box daytona/w{1..4} running task=w{1..4}; " +
		"box daytona/s1 running task=t1; probe daytona/s1 answered=1s worker=dead; probe daytona/w1 answered=1s worker=alive; " +
		"task t1 running started=1h ev.activity=20m ev.heartbeat="
	for name, c := range map[string]struct {
		rules []string
		beat  string
		want  string
	}{
		"heartbeats stopped":              {[]string{"inactive", "heartbeat-lost"}, "91s", "heartbeat-lost"},
		"heartbeats go on":                {[]string{"inactive", "heartbeat-lost"}, "90s", "inactive"},
		"nobody judges heartbeats":        {[]string{"inactive"}, "91s", "inactive"},
		"and those are in the task's row": {[]string{"inactive"}, "20m heartbeat=91s", "inactive"},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, world+c.beat)
			w.Only(c.rules...)
			for _, d := range JudgeWorld(w).Decisions {
				if d.Subject.ID == "task:t1" && (len(d.Findings) != 1 || d.Findings[0].Rule != c.want) {
					t.Errorf("findings = %v, want one of %s", d.Findings, c.want)
				}
			}
		})
	}
}
