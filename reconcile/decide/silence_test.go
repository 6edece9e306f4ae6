package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestSilenceNeedsProof: what has to agree before silence convicts.
func TestSilenceNeedsProof(t *testing.T) {
	const box = "box daytona/w1 running task=w1; box daytona/s1 running task=t1; "
	const others = "task w1 running started=1h ev.heartbeat=5s; "
	const world = box + others
	const silent = world + "task t1 running started=1h ev.heartbeat=2m; "
	const atWork = world + "task t1 running started=1h ev.heartbeat=5m ev.activity=4m; "
	const dead = "probe daytona/s1 answered=10s worker=dead; "
	const beatless = box + "task w1 running started=1h activity=5s; knew task t1 running since=1h; task t1 running started=1h "
	const gpu = "rule heartbeat-lost when.template=gpu then=10m; "
	const alive = "probe daytona/w1 answered=10s worker=alive; "
	const answers = "probe daytona/w1 answered=10s; "
	// Its row holds a name that two accounts have.
	const both = "provider daytona named=yes; provider e2b named=yes; box daytona/s1 running task=t1 key=k1; " +
		"box e2b/x1 running task=t1 key=k1; " + others + "task t1 running started=1h ev.heartbeat=2m sandbox=k1; "
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"a failed probe":          {silent + answers + "probe daytona/s1 failed=10s", "due", "its probe failed: exec: timed out"},
		"no probe yet":            {silent + answers, "probe", "its sandbox is probed first"},
		"a probe before the sign": {silent + answers + "probe daytona/s1 failed=121s", "probe", "probed first"},
		"a probe at the sign":     {silent + answers + "probe daytona/s1 failed=120s; probe daytona/w1 answered=120s", "due", ""},
		"a failed probe, and no other answers": {
			silent + "probe daytona/s1 failed=10s", "held", "only silence: its probe failed"},
		"a failed probe soon after it was resumed": {
			silent + answers + "probe daytona/s1 failed=10s; knew box daytona/s1 running task=t1 resumed=100s", "held", "only silence: "},
		"an answer, and nothing is known of the worker": {
			silent + answers + "probe daytona/s1 answered=10s", "held", "only silence: its probe was answered, and only silence speaks"},
		"an answer from before the sign": {silent + answers + "probe daytona/s1 answered=121s", "probe", "probed first"},
		"the provider's own trouble":     {silent + answers + "probe daytona/s1 infra=10s", "held", "only silence: no probe"},
		"probes are off":                 {"provider daytona off=yes; " + silent, "held", "only silence: no probe of its sandbox can be made"},
		"one that only its label makes its sandbox failed, while its own does not say what it is": {
			"provider daytona id=yes; box daytona/s1 failed task=t1; box daytona/s2 unknown raw=migrating task=t1; " +
				"box daytona/w1 running task=w1; " + others + answers + "task t1 running started=1h ev.heartbeat=2m sandbox=s2", "held",
			"only silence"},
		"its sandbox is not ours": {
			strings.ReplaceAll(silent, "s1 running", "s1 running owned=no"), "held", "only silence: no probe of its sandbox can be made"},

		"the worker is dead": {silent + alive + dead, "due", "its worker was not running 10s ago, in a sandbox that answers"},
		"the worker is dead, as was found before the sign": {
			silent + alive + "probe daytona/s1 answered=121s worker=dead", "probe", ""},
		"the worker is dead, and nobody was ever found alive": {
			silent + answers + dead, "held", "only silence: its probe was answered"},
		"the worker is dead, and another was found alive long ago": {
			silent + "probe daytona/w1 answered=10s alive=9h; " + dead, "due", ""},
		"the worker is dead, and another was found alive elsewhere": {
			"provider e2b; " + silent + "probe e2b/w9 answered=10s worker=alive; " + dead, "held", "only silence: "},
		"the worker is dead, and was alive itself before": {
			silent + "probe daytona/s1 answered=10s worker=dead alive=5m", "due", ""},
		"the worker is dead, in a sandbox that just comes back": {
			silent + alive + dead + "knew box daytona/s1 running task=t1 resumed=129s", "held", "only silence: "},
		"the worker is dead, in a sandbox that came back": {
			silent + alive + dead + "knew box daytona/s1 running task=t1 resumed=130s", "due", ""},
		"nobody sends heartbeats here, and the worker that was there is dead": {
			beatless + "activity=91s; " + alive + "probe daytona/s1 answered=10s worker=dead alive=5m", "due", "its worker was not running"},
		"nobody sends heartbeats here, and the worker that was there is dead and active a moment ago": {
			beatless + "activity=90s; " + alive + "probe daytona/s1 answered=10s worker=dead alive=5m", "healthy", ""},
		"nobody sends heartbeats here, and no worker was ever there": {
			beatless + "activity=91s; " + alive + dead, "healthy", ""},
		"the worker is dead, and had said nothing of its own yet": {
			world + "task t1 running started=1h activity=2m heartbeat=never; " + alive + dead, "probe", "its newest sign is of work"},
		"the worker is dead, had said nothing, and was found before": {
			world + "task t1 running started=1h activity=2m; knew task t1 running since=1h; " + alive +
				"probe daytona/s1 answered=10s worker=dead alive=9m", "due", ""},
		"the worker is dead, had said nothing, and was found in the attempt before": {
			world + "task t1 running started=1h activity=2m; knew task t1 running since=1h; " + alive +
				"probe daytona/s1 answered=10s worker=dead alive=61m", "probe", ""},
		"the worker is dead, as was found at the limit of how long that counts": {
			world + "task t1 running started=1h ev.heartbeat=9m; " + alive + "probe daytona/s1 answered=4m worker=dead", "due", ""},
		"the worker is dead, as was found a second before that": {
			world + "task t1 running started=1h ev.heartbeat=9m; " + alive + "probe daytona/s1 answered=241s worker=dead", "probe", "probed first"},
		"the worker is dead, in a sandbox that is not ours any more": {
			strings.ReplaceAll(silent, "s1 running", "s1 running owned=no") + alive + dead, "held", "only silence: "},
		"the worker is dead, as was found in the future": {
			silent + alive + "probe daytona/s1 answered=-1h worker=dead", "probe", "probed first"},
		"the worker is alive": {
			silent + answers + "probe daytona/s1 answered=10s worker=alive", "probe", "its worker was there 10s ago"},
		"the worker is dead, and its class may be silent for longer": {
			strings.ReplaceAll(silent, "s1 running", "s1 running template=gpu") + gpu + alive + dead, "due", ""},
		"its worker answers nothing, and its class may be silent for longer": {
			strings.ReplaceAll(silent, "s1 running", "s1 running template=gpu") + gpu + answers + "probe daytona/s1 failed=10s", "healthy", ""},
		"the worker was alive too long ago": {
			world + "task t1 running started=1h ev.heartbeat=9m; " + answers + "probe daytona/s1 answered=241s worker=alive", "probe", "probed first"},
		"the worker was alive before it was paused and came back": {
			silent + answers + "probe daytona/s1 answered=20s worker=alive; knew box daytona/s1 running task=t1 resumed=10s", "held", "only silence"},
		"the worker was alive before the sign": {
			silent + answers + "probe daytona/s1 answered=121s worker=alive", "probe", "probed first"},
		"two that its row names, the first dead and the second alive": {
			both + dead + "probe e2b/x1 answered=5s worker=alive", "probe", "its worker was there 5s ago"},
		"two that its row names, the first alive and the second dead": {
			both + "probe daytona/s1 answered=5s worker=alive; probe e2b/x1 answered=5s worker=dead alive=9h", "probe", "its worker was there 5s ago"},
		"two that its row names, both dead": {
			both + alive + dead + "probe e2b/x1 answered=5s worker=dead alive=9h", "due", ""},
		"one too many, and dead": {
			silent + "box daytona/s0 running task=t1; " + alive + dead + "probe daytona/s0 answered=5s worker=dead", "held", "only silence: no probe"},

		"at work, and its probe failed":  {atWork + answers + "probe daytona/s1 failed=10s", "probe", "its newest sign is of work"},
		"at work, and nobody asked":      {atWork + answers, "probe", "its newest sign is of work"},
		"at work, and its worker dead":   {atWork + alive + dead, "due", ""},
		"at work, and its worker alive":  {atWork + "probe daytona/s1 answered=10s worker=alive", "probe", "its worker was there"},
		"just begun, and then nothing":   {world + "task t1 running started=1h ev.heartbeat=59m ev.started=58m; probe daytona/s1 failed=10s; " + answers, "probe", "of work"},
		"begun and at once a heartbeat":  {world + "task t1 running started=1h ev.heartbeat=58m ev.started=58m; probe daytona/s1 failed=10s; " + answers, "due", ""},
		"it waits, and heartbeats ended": {world + "task t1 running started=1h ev.waiting=2m ev.activity=3m; probe daytona/s1 failed=10s; " + answers, "due", ""},
		"its row moved after the heartbeat": {
			world + "task t1 running started=1h ev.heartbeat=3m activity=2m; probe daytona/s1 failed=10s; " + answers, "probe", "of work"},
		"its sandbox is failed": {
			others + "box daytona/w1 running task=w1; box daytona/s1 failed task=t1; task t1 running started=1h ev.heartbeat=2m", "due", ""},
	})
}

// TestSilentAndGone: a task whose sandbox is not here is sandbox-missing's, while that is judged.
func TestSilentAndGone(t *testing.T) {
	const world = "task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; " +
		"task t1 running started=1h ev.heartbeat=2m; "
	for name, c := range map[string]struct{ world, rule, want, says string }{
		"it was not looked at": {"knew box daytona/s1 running task=t1", "heartbeat-lost", SaysKept, "that is for sandbox-missing"},
		"it is gone":           {"knew box daytona/s1 running task=t1; look daytona/s1 gone", "heartbeat-lost", SaysKept, "that is for sandbox-missing"},
		"which finds it":       {"knew box daytona/s1 running task=t1; look daytona/s1 gone", "sandbox-missing", SaysFound, ""},
		"it is stopped":        {"box daytona/s1 stopped task=t1", "heartbeat-lost", SaysKept, "that is for sandbox-missing"},
		"it is failed":         {"box daytona/s1 failed task=t1", "heartbeat-lost", SaysDue, "sandbox s1 is failed"},
		"nobody ever saw one":  {"", "heartbeat-lost", SaysKept, "that is for sandbox-missing"},
		"which asks for none":  {"", "sandbox-missing", SaysHealthy, "it may need none"},
		"and that is not judged": {"rule sandbox-missing mode=off; knew box daytona/s1 running task=t1; look daytona/s1 gone", "heartbeat-lost",
			SaysDue, "sandbox s1 is gone"},
		"not judged, and nobody ever saw one": {"rule sandbox-missing mode=off", "heartbeat-lost", SaysDue, "only silence: no probe"},
		"it is being deleted":                 {"box daytona/s1 deleting task=t1", "heartbeat-lost", SaysDue, "only silence: no probe"},
		"what it did last": {"task t2 running started=1h ev.activity=20m; knew box daytona/s2 running task=t2", "inactive", SaysKept,
			"that is for sandbox-missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, world, c.world)
			subject := "task:t1"
			if c.rule == "inactive" {
				subject = "task:t2"
			}
			if got := answersOf(w, subject)[c.rule]; got.Says != c.want || !strings.Contains(got.Why, c.says) {
				t.Errorf("%s says %s: %q; want %s: %q", c.rule, got.Says, got.Why, c.want, c.says)
			}
		})
	}
}

// Who was found dead has fallen silent for good: many of those do not make the pipeline suspect.
func TestDeadTogether(t *testing.T) {
	const world = "box daytona/s{1..9} running task=t{1..9}; task t{1..3} running started=1h ev.heartbeat=5m; " +
		"task t{4..9} running started=1h ev.heartbeat=9s; probe daytona/s{4..9} answered=1m worker=alive; probe daytona/s{1..3} answered=1m"
	testTrust(t, map[string]trustCase{
		"their sandboxes answer": {world, "events", "the event pipeline lost a part"},
		"and they are dead":      {world + " worker=dead", "", ""},
	})
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"their sandboxes answer": {world, "held", "events-untrusted"},
		"and they are dead":      {world + " worker=dead", "due", ""},
	})
}

// TestSilenceOfWhatRests: a sandbox that is paused, or comes up, explains the silence of its worker, whatever
// its probes said before; one of an earlier attempt explains nothing.
func TestSilenceOfWhatRests(t *testing.T) {
	const others = "task w1 running started=1h ev.heartbeat=5s; box daytona/w1 running task=w1; probe daytona/w1 answered=10s; " +
		"task t1 running started=1h ev.heartbeat=2m sandbox=s1; probe daytona/s1 failed=10s; provider daytona id=yes; "
	testRule(t, "heartbeat-lost", map[string]ruleCase{
		"its sandbox runs":      {others + "box daytona/s1 running task=t1 key=s1", "due", ""},
		"its sandbox is paused": {others + "box daytona/s1 suspended task=t1 key=s1", "kept", "its sandbox is paused: sandbox s1 is suspended"},
		"its sandbox comes up":  {others + "box daytona/s1 creating task=t1 key=s1", "kept", "its sandbox s1 is creating"},
		"its sandbox is stopped, and that is not judged": {
			others + "box daytona/s1 stopped task=t1 key=s1", "due", "sandbox s1 is stopped"},
		"the one that its row names is stopped, and another one of it runs": {
			others + "box daytona/s0 running task=t1; box daytona/s1 stopped task=t1 key=s1; probe daytona/s1 infra=10s; " +
				"probe daytona/s0 infra=10s", "held", "only silence: "},
		"the sandbox of the attempt before is stopped, the present one runs": {
			others + "box daytona/s0 stopped task=t1; box daytona/s1 running task=t1 key=s1; probe daytona/s1 infra=10s", "held", "only silence: "},
	})
}
