package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// budgets: no pass began more remedies than it may.
func (au *auditor) budgets(perPass int) {
	au.Helper()
	for _, b := range collect[struct{ Pass, Begun int }](au.arena, `SELECT begun_pass::int AS pass, count(*)::int AS begun
			FROM sandkeeper.actions WHERE begun_pass IS NOT NULL GROUP BY 1`) {
		if b.Begun > perPass {
			au.Errorf("%d remedies were begun in pass %d, and %d may be", b.Begun, b.Pass, perPass)
		}
	}
}

// A turnOf is one pass on record.
type turnOf struct {
	ID     int
	Kind   string
	Holder string
	Epoch  int
	Began  time.Time
	Ended  *time.Time
}

func (au *auditor) turns() []turnOf {
	au.Helper()
	return collect[turnOf](au.arena, `SELECT id::int, kind, holder, epoch::int, began_at AS began, ended_at AS ended
		FROM sandkeeper.passes ORDER BY id`)
}

var pidOf = regexp.MustCompile(` pid (\d+) `)

// died is when the process that holds a name was killed.
func (au *auditor) died(holder string) (time.Time, bool) {
	m := pidOf.FindStringSubmatch(holder)
	if m == nil {
		return time.Time{}, false
	}
	pid, _ := strconv.Atoi(m[1]) // digits
	au.mu.Lock()
	defer au.mu.Unlock()
	at, ok := au.killed[pid]
	return at, ok
}

// passesApart: a pass begins when the one before has ended, or its process is dead.
func (au *auditor) passesApart() {
	au.Helper()
	turns := au.turns()
	for i := 1; i < len(turns); i++ {
		before, next := turns[i-1], turns[i]
		if next.Epoch <= before.Epoch {
			au.Errorf("pass %d has epoch %d, the one before %d", next.ID, next.Epoch, before.Epoch)
		}
		if before.Ended != nil {
			// Each pass measures the database's clock anew, by half a round trip: a busy machine takes long for one.
			if overlap := before.Ended.Sub(next.Began); overlap > time.Second {
				au.Errorf("pass %d of %s began %s before %d of %s ended", next.ID, next.Holder, overlap, before.ID, before.Holder)
			} else if overlap > 0 {
				au.Logf("pass %d began %s before %d ended, by the clock as each measured it", next.ID, overlap, before.ID)
			}
			continue
		}
		if au.blocks || au.troubled(before.Began, next.Began) {
			continue
		}
		if at, dead := au.died(before.Holder); !dead || next.Began.Before(at) {
			au.Errorf("pass %d of %s never ended, and nobody had killed it when %d began", before.ID, before.Holder, next.ID)
		}
	}
}

// busy is what a machine that runs other tests beside may add to a gap between passes. Without a take-over it would be
// minutes: until the queue rescues the job of who was killed.
const busy = 30 * time.Second

// longestGap is the longest time between two passes that ended, and how many were cut
// short in it.
func (au *auditor) longestGap() (longest time.Duration, cut int) {
	au.Helper()
	var last time.Time
	since := 0
	for _, t := range au.turns() {
		if t.Ended == nil {
			since++
			continue
		}
		if gap := t.Ended.Sub(last); !last.IsZero() && gap > longest {
			longest, cut = gap, since
		}
		last, since = *t.Ended, 0
	}
	return longest, cut
}

// tell prints what was audited, so that an audit of nothing is noticed.
func (au *auditor) tell(actions []entry) {
	au.Helper()
	kinds, outcomes := map[string]int{}, map[string]int{}
	for _, x := range au.p.sickness() {
		kinds[x.kind]++
	}
	for _, e := range actions {
		outcomes[e.Step+" "+e.Outcome]++
	}
	ended, cutAll := 0, 0
	for _, t := range au.turns() {
		if t.Ended == nil {
			cutAll++
		} else {
			ended++
		}
	}
	repeats := 0
	au.mu.Lock()
	for _, calls := range au.deletes {
		repeats += len(calls) - 1
	}
	kills := au.kills
	au.mu.Unlock()
	gap, cut := au.longestGap()
	au.Logf("%d kills, %d passes, %d of them cut short; broken: %s; actions: %s; %d deletes repeated; "+
		"longest gap between passes %s (%d cut short in it)",
		kills, ended+cutAll, cutAll, listed(kinds), listed(outcomes), repeats, gap.Round(time.Millisecond), cut)
}

func listed(counts map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[k], k))
	}
	return strings.Join(out, ", ")
}
