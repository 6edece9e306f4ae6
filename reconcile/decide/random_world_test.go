package decide

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

var seedFlag = flag.Uint64("seed", 0, "judge only the random world of this seed")

// seeds are those to try: always the same ones, so that a failure is found again. Judging and
// planning are pure: the race detector sees some of it only to see that it stays so.
func seeds(t *testing.T, n int) []uint64 {
	t.Helper()
	if *seedFlag != 0 {
		return []uint64{*seedFlag}
	}
	out := make([]uint64, raced.Unless(n, n/20))
	for i := range out {
		out[i] = uint64(i + 1)
	}
	return out
}

// A randomWorld is a small world in the language of newWorld, made from a seed.
type randomWorld struct {
	*rand.Rand
	lines []string
	text  string
}

func worldOf(t testing.TB, seed uint64) *randomWorld {
	t.Helper()
	r := &randomWorld{Rand: rand.New(rand.NewPCG(seed, 1))}
	r.PolicyOf()
	for i := range r.IntN(9) {
		r.task(fmt.Sprintf("t%d", i))
	}
	for i := range r.IntN(14) {
		r.sandbox(r.one("daytona", "daytona", "e2b"), i)
	}
	r.twins()
	r.trouble()
	r.failures()
	r.lives()
	r.text = strings.Join(r.lines, "\n")
	return r
}

func (r *randomWorld) add(format string, args ...any) {
	r.lines = append(r.lines, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (r *randomWorld) one(of ...string) string { return of[r.IntN(len(of))] }

// maybe is the text once in so many times, else "".
func (r *randomWorld) maybe(oneIn int, text string) string {
	if r.IntN(oneIn) > 0 {
		return ""
	}
	return text
}

func (r *randomWorld) age() string {
	return r.one("-1h", "0s", "5s", "31s", "91s", "3m", "11m", "2h", "50h")
}

func (r *randomWorld) PolicyOf() {
	r.add("provider daytona id=%s exclusive=%s required=%s endsatrest=%s", r.one("no", "no", "yes"),
		r.one("yes", "yes", "no"), r.one("yes", "yes", "no"), r.one("yes", "yes", "no"))
	r.add("provider e2b label=%s named=%s", r.one("yes", "yes", "no"), r.one("yes", "no"))
	r.add("limits per_pass=%s share=%s per_hour=%s", r.one("1", "2", "20"), r.one("10", "60", "100"), r.one("2", "200"))
	r.add("spent %s", r.one("0", "0", "1", "199"))
	for i := range reconcile.Rules {
		rule := &reconcile.Rules[i]
		if rules.Finds[rule.Name] == nil {
			continue // it is about the whole fleet
		}
		if mode := r.one("", "", "", "observe", "off"); mode != "" {
			r.add("rule %s mode=%s", rule.Name, mode)
		}
	}
	r.add("rule %s remedy=requeue", r.one("assigned-stale", "heartbeat-lost", "deadline-exceeded"))
	r.add("pass %s", r.one("full", "full", "full", "quick"))
}

func (r *randomWorld) task(id string) {
	state := r.one("pending", "assigned", "running", "running", "running", "completed", "failed", "stopped", "unknown")
	kind := "task"
	if reconcile.TaskState(state).Terminal() || r.IntN(12) == 0 {
		kind = "row"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s updated=%s", kind, id, state, r.age())
	for _, column := range []string{"assigned", "started", "heartbeat", "deadline", "keep", "ev.started",
		"ev.activity", "ev.heartbeat", "ev.finished"} {
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, " %s=%s", column, r.age())
		}
	}
	b.WriteString(r.maybe(9, " mark=2") + r.maybe(9, " sandboxes=2"))
	b.WriteString(r.maybe(4, " timeout=10m") + r.maybe(3, " attempts="+r.one("0/3", "3/3")) + r.maybe(4,
		" template=light"))
	b.WriteString(r.maybe(4, " provider="+r.one("daytona", "e2b", "modal")) + r.maybe(3, fmt.Sprintf(" sandbox=s%d",
		r.IntN(14))))
	r.lines = append(r.lines, b.String())
	if r.IntN(3) > 0 {
		r.add("find %s %s", id, r.one("none", "none", "none", "error"))
	}
	if r.IntN(2) == 0 {
		r.add("knew task %s %s since=%s %s", id, r.one(state, "running", "assigned"), r.age(), r.maybe(5, "stale=2h")+
			r.maybe(9, " mark=1")+r.maybe(9, " mark=2 marked="+r.age())+r.maybe(5, " beat="+r.age()+" gap=5m"))
	}
	if r.IntN(2) == 0 {
		r.add("finding sandbox-missing task:%s first=10m last=%s sighted=1m "+
			"sightings=%d", id, r.one("15s", "2h"), r.IntN(4))
	}
}

func (r *randomWorld) sandbox(provider string, i int) {
	ref := fmt.Sprintf("%s/s%d", provider, i)
	task := r.maybe(2, fmt.Sprintf(" task=t%d", r.IntN(10)))
	state := r.one("running", "running", "running", "creating", "suspended", "stopped", "failed", "deleting", "ended",
		"unknown")
	more := r.maybe(3, fmt.Sprintf(" key=s%d", i)) + r.maybe(9, " owned=no") + r.maybe(4,
		" template=light") + r.maybe(8, " label.keep=yes")
	switch r.IntN(6) {
	case 0:
		r.add("look %s %s", ref, r.one("gone", "gone", "error", state+task))
	default:
		r.add("box %s %s%s%s created=%s updated=%s", ref, state, task, more, r.age(), r.age())
	}
	if r.IntN(2) == 0 {
		r.add("knew box %s %s "+
			"since=%s%s%s", ref, r.one(state, "running"), r.age(), r.maybe(2, task), r.maybe(6, " gone=5m"))
	}
	if r.IntN(9) == 0 {
		r.add("explains specs %s", ref)
	}
	if r.IntN(3) > 0 {
		r.add("finding orphan sandbox:%s first=10m last=%s sighted=2m "+
			"sightings=%d", ref, r.one("2m", "2m", "2h"), 1+r.IntN(3))
	}
	if r.IntN(2) == 0 {
		r.add("probe %s %s", ref, r.one("answered=1m", "answered=1m", "answered=10s worker=dead",
			"answered=10s worker=dead", "answered=10s worker=alive", "failed=5m,3m,1m", "failed=1m", "infra=1m"))
	}
	if r.IntN(3) == 0 {
		r.add("vitals %s at=90s queued=%s for=%s cpu=99", ref, r.one("1", "1", "0"), r.one("1h", "40s"))
		r.add("vitals %s at=10s queued=1 for=%s running=%s", ref, r.one("1h", "2m", "30s"), r.one("0", "0", "1"))
	}
}

// twins are two sandboxes of one task, which names one of them.
func (r *randomWorld) twins() {
	if r.IntN(4) == 0 {
		r.add("task tw running started=2h ev.heartbeat=%s sandbox=%s", r.one("5s", "91s"), r.one("u1", "u2", "u9"))
		r.add("box daytona/u{1..2} %s task=tw created=%s", r.one("running", "running", "creating"), r.age())
	}
}

// lives are workers that do nothing, sandboxes that are records alone or older than allowed,
// and tasks that fail again and again.
func (r *randomWorld) lives() {
	if r.IntN(3) == 0 {
		r.add("rule over-age after=%s", r.one("3m", "40m", "1h"))
	}
	for i := range r.IntN(3) {
		r.add("task l%d running started=%s ev.heartbeat=%s ev.activity=%s %s", i, r.one("2h", "11m"), r.one("5s", "5s", "91s"),
			r.one("16m", "20m", "2h", "-1h"), r.maybe(4, "ev.waiting="+r.one("16m", "2h")))
		at := r.one("daytona", "daytona", "e2b")
		r.add("box %s/l%d %s task=l%d", at, i, r.one("running", "running", "creating"), i)
		r.add("probe %s/l%d answered=1s worker=%s alive=%s", at, i, r.one("dead", "dead", "dead", "alive"), r.one("1h", "never"))
	}
	if r.IntN(2) == 0 {
		r.add("task lw running started=2h ev.heartbeat=5s ev.activity=%s", r.one("5s", "5s", "20m"))
	}
	if r.IntN(4) == 0 {
		r.add("source activity %s since=1h recovered=%s", r.one("trusted", "untrusted"), r.one("1m", "16m"))
	}
	if r.IntN(3) == 0 {
		r.add("box daytona/h1 running hollow=yes%s", r.maybe(2, " task=t1"))
		r.add("finding record-without-container %s first=10m last=%s sighted=2m sightings=%d",
			r.one("sandbox:daytona/h1", "task:t1"), r.one("2m", "2h"), 1+r.IntN(2))
	}
	if r.IntN(4) == 0 {
		r.add("task tl %s updated=11m attempts=1/9 sandbox=s3", r.one("pending", "assigned", "running"))
		r.add("knew task tl %s since=11m attempts=%d sandbox=%s turns=%s", r.one("pending", "running", "failed"), r.IntN(2),
			r.one("s2", "s3"), r.one("2h,30m", "30m,20m", "30m,20m,10m"))
	}
	if r.IntN(4) == 0 {
		r.add("box daytona/x1 %s; action x1 errored sandbox:daytona/x1 terminate box=daytona/x1 outcome=accepted claimed=1m asked=%s",
			r.one("running", "deleting", "failed"), r.one("1m", "3m"))
	}
}

// trouble is what sources and operators may add.
func (r *randomWorld) trouble() {
	for _, line := range []string{
		"listing daytona failed=503", "listing e2b missing=eu", "tasks empty", "tasks standby", "template " +
			"daytona/light inactive",
		"watched since=1m", "source tasks trusted recovered=1m", "source link untrusted", "source events untrusted " +
			"since=1h recovered=1m",
		"source listing:daytona trusted last=1m", "source listing:e2b trusted " +
			"last=1m", "pause all", "pause provider:e2b", "pause rule:orphan",
		"hold task:t1", "hold sandbox:s2", "hold label:keep is=yes", "hold provider:daytona",
		"release listing:daytona task:t1 sandbox:daytona/s1", "breaker orphan " +
			"sandbox:daytona/s1", "unread t9", "unparsable t8",
		"action a1 orphan sandbox:daytona/s3 terminate box=daytona/s3", "action a2 errored sandbox:e2b/s4 terminate " +
			"box=e2b/s4 claimed=1m",
		"action a3 heartbeat-lost task:t2 fail", "mode errored off", "knew task t9 running", "knows orphan errored",
	} {
		if r.IntN(12) == 0 {
			r.lines = append(r.lines, line)
		}
	}
}

// shuffled judges the same world with everything told in another order, as far as the
// order does not say anything.
func (r *randomWorld) shuffled(t testing.TB) string {
	t.Helper()
	head := slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool { return unordered(line) })
	tail := slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool { return !unordered(line) })
	r.Shuffle(len(tail), func(i, j int) { tail[i], tail[j] = tail[j], tail[i] })
	return bytesOf(t, worldtest.NewWorld(t, append(head, tail...)...))
}

func unordered(line string) bool {
	kind, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"task", "row", "box", "knew", "finding", "probe", "find", "source"}, kind)
}

// bytesOf is everything that a world comes to, as JSON.
func bytesOf(t testing.TB, w *worldtest.World) string {
	t.Helper()
	j, p := PlanWorld(w)
	text, err := json.Marshal([]any{j, p, SeenTasks(j.View), SeenSandboxes(j.View, j.Decisions)})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func equalSnapshots(a, b *reconcile.Snapshot) bool { return reflect.DeepEqual(a, b) }
