package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// answersOf are what every rule says of one subject of the world, by rule.
func answersOf(w *worldtest.World, subject string) map[string]RuleAnswer {
	w.T.Helper()
	j := JudgeWorld(w)
	i := slices.IndexFunc(j.Decisions, func(d Decision) bool { return d.Subject.ID == subject })
	if i < 0 {
		w.T.Fatalf("nothing was decided on %s", subject)
	}
	out := map[string]RuleAnswer{}
	for _, a := range j.Results(&j.Decisions[i]) {
		out[a.Rule] = a
	}
	return out
}

// TestAnswers: each rule says of a subject why it is healthy, with the numbers, or what it
// finds.
func TestAnswers(t *testing.T) {
	const others = "task w{1..4} running started=1h ev.heartbeat=1s ev.activity=1s; box daytona/w{1..4} running task=w{1..4}; "
	const healthy = others + "box daytona/s1 running task=t1 created=1h template=light; template daytona/light active; " +
		"task t1 running started=1h timeout=2h ev.heartbeat=4s ev.activity=7s; probe daytona/s1 answered=9s"
	for name, c := range map[string]struct {
		world, subject string
		rule           string
		says, why      string
	}{
		"healthy: finished-unrecorded": {healthy, "task:t1", "finished-unrecorded", SaysHealthy, "has not said that it finished"},
		"healthy: assigned-stale":      {healthy, "task:t1", "assigned-stale", SaysHealthy, "only assigned tasks are judged by this rule; this task is running"},
		"healthy: assigned, and started": {others + "task t1 assigned assigned=2m ev.started=1m; box daytona/s1 running task=t1", "task:t1",
			"assigned-stale", SaysHealthy, "its worker has started"},
		"healthy: sandbox-missing":      {healthy, "task:t1", "sandbox-missing", SaysHealthy, "sandbox s1 is running"},
		"healthy: heartbeat-lost":       {healthy, "task:t1", "heartbeat-lost", SaysHealthy, "last seen 4s ago, limit 1m30s"},
		"healthy: inactive":             {healthy, "task:t1", "inactive", SaysHealthy, "last activity 7s ago, limit 15m"},
		"healthy: deadline-exceeded":    {healthy, "task:t1", "deadline-exceeded", SaysHealthy, "ran 1h of 2h"},
		"healthy: stop-ignored":         {healthy, "task:t1", "stop-ignored", SaysHealthy, "only stopped tasks are judged by this rule; this task is running"},
		"healthy: finished-lingering":   {healthy, "task:t1", "finished-lingering", SaysHealthy, "this task is running"},
		"healthy: pending-stuck":        {healthy, "task:t1", "pending-stuck", SaysHealthy, "this task is running"},
		"healthy: looping":              {healthy, "task:t1", "looping", SaysHealthy, "0 of 3 attempts ended without success within 1h"},
		"healthy: orphan":               {healthy, "task:t1", "orphan", SaysHealthy, "task t1 does"},
		"healthy: duplicate":            {healthy, "task:t1", "duplicate", SaysHealthy, "1 live sandboxes of it are here"},
		"healthy: provisioning-stuck":   {healthy, "task:t1", "provisioning-stuck", SaysHealthy, "no sandbox of it is coming up"},
		"healthy: idle-broken":          {healthy, "task:t1", "idle-broken", SaysHealthy, "the last probe of sandbox s1, 9s ago: answered"},
		"healthy: errored":              {healthy, "task:t1", "errored", SaysHealthy, "no sandbox of it is in a failed state"},
		"healthy: over-age, no maximum": {healthy, "task:t1", "over-age", SaysHealthy, "no maximum age"},
		"healthy: over-age":             {healthy + "; rule over-age after=2h", "task:t1", "over-age", SaysHealthy, "s1 is 1h old, the maximum is 2h"},
		"healthy: terminating-stuck":    {healthy, "task:t1", "terminating-stuck", SaysHealthy, "on its way out"},
		"healthy: template-unusable":    {healthy, "task:t1", "template-unusable", SaysHealthy, `its snapshot "light" at daytona is active`},
		"healthy: systemic":             {healthy, "task:t1", "systemic", SaysHealthy, "5 failures with one signature within 30m"},
		"healthy: capacity":             {healthy, "task:t1", "capacity", SaysHealthy, "the whole fleet"},

		"a rule that is off": {healthy + "; rule orphan mode=off", "task:t1", "orphan", SaysOff, "the rule is off"},
		"a quick pass": {"pass quick; source listing:daytona trusted; task t1 running started=1h ev.heartbeat=1s", "task:t1",
			"orphan", SaysOff, "only full passes judge it"},
		"a quick pass, found by the full one": {"pass quick; source listing:daytona trusted; finding duplicate task:t1 " +
			"reason=two; task t1 running started=1h ev.heartbeat=1s", "task:t1", "duplicate", SaysOff, "the last one found: two"},
		"kept": {others + "task t1 assigned updated=10s; find t1 none", "task:t1", "assigned-stale", SaysKept, "assigned for 10s of 3m"},
		"kept until it was looked at": {others + "task t1 assigned updated=1h; knew box daytona/s1 running task=t1", "task:t1", "assigned-stale",
			SaysKept, "was not looked at yet; a direct look has to settle it"},
		"kept until it was probed": {"task t1 running started=1h ev.heartbeat=2m; box daytona/s1 running task=t1; " +
			"task w1 running started=1h ev.heartbeat=1s", "task:t1", "heartbeat-lost", SaysKept, "a probe has to settle it"},
		"found":        {others + "box daytona/s9 running created=1h", "sandbox:daytona/s9", "orphan", SaysFound, "sighted 1 of 2 times since 2026-03-01 15:00:00"},
		"due":          {others + "task t1 assigned updated=1h; find t1 none", "task:t1", "assigned-stale", SaysDue, "worker never started"},
		"due and held": {"listing daytona failed=503; box daytona/s9 failed updated=1h", "sandbox:daytona/s9", "errored", SaysDue, "held by listing-untrusted daytona"},
		"its template is unusable": {"task t1 running started=1h template=light; template daytona/light inactive", "task:t1",
			"template-unusable", SaysDue, `snapshot "light" is inactive`},
		"its template was not measured": {"task t1 running started=1h template=light", "task:t1", "template-unusable", SaysHealthy, "was not measured"},
		"its template is not known":     {"task t1 running started=1h", "task:t1", "template-unusable", SaysHealthy, "is not known"},
		"without tasks":                 {"tasks none; box daytona/s1 running", "sandbox:daytona/s1", "orphan", SaysHealthy, "no tasks here"},
		"a task that nobody maps":       {"task t1 unknown", "task:t1", "inactive", SaysHealthy, "in a status that is not mapped"},
		"a task outside":                {"row t1 running outside=yes; box daytona/s1 running task=t1", "task:t1", "inactive", SaysHealthy, "outside of what may be judged"},
		"a sandbox alone":               {"box daytona/s1 running", "sandbox:daytona/s1", "inactive", SaysHealthy, "a sandbox without a task"},
		"no timeout":                    {"task t1 running started=1h", "task:t1", "deadline-exceeded", SaysHealthy, "no timeout, no deadline"},
		"never probed":                  {"task t1 running started=1h; box daytona/s1 running task=t1", "task:t1", "idle-broken", SaysHealthy, "was not probed yet"},
		"not to be probed":              {"task t1 running started=1h; box daytona/s1 suspended task=t1", "task:t1", "idle-broken", SaysHealthy, "only running ones"},
		"pending":                       {"task t1 pending updated=9m", "task:t1", "pending-stuck", SaysHealthy, "pending for 9m by updated_at, limit 10m"},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, "rule systemic mode=enforce count=5 window=30m; rule capacity mode=enforce", c.world)
			got := answersOf(w, c.subject)[c.rule]
			if got.Says != c.says || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s says %q: %q; want %q: %q", c.rule, got.Says, got.Why, c.says, c.why)
			}
		})
	}
}

// TestAnswersOfAll: every rule that people know answers, in the order of the design, and
// agrees with the decision; asking changes nothing.
func TestAnswersOfAll(t *testing.T) {
	for _, seed := range seeds(t, 200) {
		r := worldOf(t, seed)
		w := worldtest.NewWorld(t, r.text)
		j, before := JudgeWorld(w), bytesOf(t, w)
		for i := range j.Decisions {
			checkAnswers(t, seed, &j.Decisions[i], j.Results(&j.Decisions[i]))
		}
		if after := bytesOf(t, w); after != before {
			t.Fatalf("seed %d: asking changed what is judged", seed)
		}
	}
}

func checkAnswers(t *testing.T, seed uint64, d *Decision, answers []RuleAnswer) {
	t.Helper()
	found := map[string]bool{}
	for _, f := range d.Findings {
		found[f.Rule] = true
	}
	for i, a := range answers {
		if a.Rule != reconcile.RuleNames[i] || a.Why == "" {
			t.Fatalf("seed %d, %s: answer %d is %+v, want one of %s", seed, d.Subject.ID, i, a, reconcile.RuleNames[i])
		}
		says := a.Says == SaysDue || a.Says == SaysFound
		if reconcile.RuleNamed(a.Rule).Family != reconcile.Fleet && found[a.Rule] != says {
			t.Errorf("seed %d, %s: %s says %s, and was found: %v", seed, d.Subject.ID, a.Rule, a.Says, found[a.Rule])
		}
		if d.KeptBy == a.Rule && len(d.Findings) == 0 && !strings.HasPrefix(a.Why, d.Kept) {
			t.Errorf("seed %d, %s: %s says %q, kept because %q", seed, d.Subject.ID, a.Rule, a.Why, d.Kept)
		}
	}
	if len(answers) != len(reconcile.RuleNames) {
		t.Errorf("seed %d: %d answers, want %d", seed, len(answers), len(reconcile.RuleNames))
	}
}
