package decide

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A Standing is what a process keeps of the live rows of a large fleet from one quick pass to the next: of each what
// stands for it as it reads, until when it is plain if nothing changes, and what it counts for. The next pass reads the
// rows that read otherwise, those of whose tasks or sandboxes something else is remembered, those that were not plain,
// and those whose time has come; of all others it knows that reading them would come to the same. It is no source of
// anything that is done: who carries out what a pass has found looks again, see [Sieve.StandsDue].
type Standing struct {
	turn int64          // of the recall that it is up to; 0: nothing is known
	by   *view.JudgedBy // what all rows that stand were judged by
	last time.Time      // the ledger's now of the last pass that went by it

	tasks, boxes reconcile.Places    // of which, or of whose sandboxes, something else was remembered since
	only         reconcile.OnlyBoxes // as they were remembered before that

	sums    []int64
	rows    [][]standing // by bucket
	pending map[string]*standing
	asked   int // of those, how many were read
	twice   bool

	later [len(horizons)]*view.View // of this pass, made when it is asked for
}

// A standing is one live row.
type standing struct {
	id                   string // the text that the ledger's memory has, where it is plain
	sum                  int64
	until                reconcile.Moment // it is plain until then by the ledger's clock, if nothing changes
	newest, active, made reconcile.Moment
	beatGap              time.Duration
	at                   reconcile.PlaceOf
	clocks               uint16 // which of them the row holds, a bit each
	plain, beats, acts   bool
	read                 bool // in this pass
}

// Horizons are how far ahead a row is asked about. It is asked again no later than the farthest at which it, and at all
// before, is still plain: where a threshold comes near that is soon, else seldom.
var horizons = [...]time.Duration{2 * time.Second, 8 * time.Second, 32 * time.Second, 128 * time.Second,
	512 * time.Second}

// Knows reports whether anything is known: where nothing is, what is recalled is to be recalled anew.
func (st *Standing) Knows() bool { return st.turn != 0 }

// Recalled takes what was recalled, in each pass of this process: what has changed since the last quick one is known
// only where none is missed. Nil is a recall of everything.
func (st *Standing) Recalled(r *reconcile.Recalled) {
	switch {
	case r == nil:
		st.Forget()
	case st.turn != 0 && r.Since == st.turn:
		st.turn = r.Turn
		st.boxes.MarkChanged(r, true)
		st.tasks.MarkChanged(r, false)
	default:
		st.Forget()
		st.begin(r)
	}
}

// begin is where nothing is known: of all tasks something else is remembered.
func (st *Standing) begin(r *reconcile.Recalled) {
	st.turn = r.Turn
	for _, was := range r.Tasks.Kept() {
		st.boxes.Mark(was)
	}
}

// Forget forgets everything.
func (st *Standing) Forget() { *st = Standing{} }

// NewSieveAgain is the sieve of a quick pass that asks for what has changed; nil where everybody has to be read.
func NewSieveAgain(s *reconcile.Snapshot, p *reconcile.Policy, st *Standing) *Sieve {
	if s.Kind != reconcile.Quick || !sieves(s, p) {
		return nil
	}
	//guard:standing-turn harm
	if st.turn == 0 || s.Memory.Turn != st.turn {
		return nil // the places of another recall are others
	}
	v := &Sieve{v: view.Before(s, p), open: openTasks(s), others: map[string]onlyBox{}, again: st}
	by := v.v.JudgedBy()
	//guard:standing-judged P6
	if st.by == nil || !st.by.Same(by) || s.Memory.Now.Before(st.last) {
		*st = Standing{turn: st.turn, boxes: st.boxes, only: st.only, sums: make([]int64, reconcile.RowBuckets),
			rows: make([][]standing, reconcile.RowBuckets)}
	}
	st.by, st.last = by, s.Memory.Now
	st.pending, st.asked, st.twice, st.later = map[string]*standing{}, 0, false, [len(horizons)]*view.View{}
	return v
}

// Sums are the sums of the rows by bucket, see [reconcile.RowsBefore].
func (s *Sieve) Sums() []int64 { return s.again.sums }

// Pick takes which rows are as they were, and returns which are to be read.
func (s *Sieve) Pick(sums map[int]int64, rows []reconcile.RowSum) (ids []string, ok bool) {
	st := s.again
	heard := map[int][]string{}
	fresh := make(map[int][]standing, len(sums))
	for i := range rows {
		row := &rows[i]
		if row.Heard {
			heard[row.Bucket] = append(heard[row.Bucket], row.ID)
		}
		if _, changed := sums[row.Bucket]; changed {
			//guard:standing-twice harm
			if find(fresh[row.Bucket], row.ID) != nil {
				st.twice = true // a view gives it twice, and it may read as it did
			}
			fresh[row.Bucket] = append(fresh[row.Bucket], st.row(row))
		}
	}
	for bucket, sum := range sums {
		st.sums[bucket], st.rows[bucket] = sum, slices.Clip(slices.Clone(fresh[bucket]))
	}
	for bucket, ids := range heard {
		for _, id := range ids {
			if at := find(st.rows[bucket], id); at != nil {
				at.plain = false
			}
		}
	}
	m := &s.v.S.Memory
	ids = st.due(s.open, m)
	if st.twice {
		return nil, false
	}
	st.only.Find(m, &st.boxes)
	st.tasks, st.boxes = reconcile.Places{}, reconcile.Places{}
	for _, id := range ids {
		was, _ := m.Tasks.At(id)
		s.others[id] = onlyBox{some: true, was: st.only.Of(m, was)}
	}
	return ids, true
}

// row is what is known of a row, where it reads as it did.
func (st *Standing) row(now *reconcile.RowSum) standing {
	if was := find(st.rows[now.Bucket], now.ID); was != nil && was.sum == now.Sum {
		return *was
	}
	return standing{id: now.ID, sum: now.Sum}
}

func find(rows []standing, id string) *standing {
	for i := range rows {
		if rows[i].id == id {
			return &rows[i]
		}
	}
	return nil
}

// due are the rows that are to be read, by id.
func (st *Standing) due(open map[string]bool, m *reconcile.Memory) (ids []string) {
	for id := range open {
		was, _ := m.Tasks.At(id)
		st.tasks.Mark(was)
	}
	now := reconcile.MomentOf(m.Now)
	for i := range st.rows {
		for j := range st.rows[i] {
			row := &st.rows[i][j]
			//guard:standing-remembered harm
			changed := st.tasks.Has(row.at)
			//guard:standing-until harm
			if row.read = false; row.plain && row.until > now && !changed {
				continue
			}
			row.plain = false
			st.twice = st.twice || st.pending[row.id] != nil
			st.pending[row.id] = row
			ids = append(ids, row.id)
		}
	}
	return ids
}

// stand keeps a row that is plain.
func (st *Standing) stand(s *Sieve, t *reconcile.Task, before *view.SeenTask, was *reconcile.CompactTask,
	changed bool) {
	row := st.pending[t.ID]
	if row == nil || row.plain {
		s.twice = true // a row that nobody asked for, or that came before
		return
	}
	var one reconcile.Plain
	s.v.Count(t, before, nil, &one)
	row.plain, row.at, row.id = true, was.Place(), was.ID()
	row.newest, row.active = reconcile.MomentOf(one.Newest), reconcile.MomentOf(one.Active)
	row.made, row.beatGap = reconcile.MomentOf(one.Made), one.BeatGap
	row.beats, row.acts, row.clocks = one.Beats, one.Actors > 0, 0
	for i, n := range one.Clocks {
		row.clocks |= uint16(n) << i //nolint:gosec // 0 or 1
	}
	row.until = reconcile.MomentOf(s.v.Now)
	if changed {
		return // what is remembered of it will change
	}
	for i := range horizons {
		if !s.plainLater(i, t, before) {
			return
		}
		row.until = reconcile.MomentOf(s.v.Now.Add(horizons[i]))
	}
	// Many are asked about at once, as when a process begins: the next time each has one of its own.
	const last = len(horizons) - 1
	row.until -= reconcile.Moment(uint64(row.sum) % uint64(horizons[last]/2)) //nolint:gosec // bits are bits
}

// plainLater reports whether a row that is plain, and of which nothing is news, will still be so if nothing changes.
func (s *Sieve) plainLater(at int, t *reconcile.Task, before *view.SeenTask) bool {
	v := s.again.later[at]
	if v == nil {
		v = view.Later(s.v.S, s.v.P, horizons[at])
		s.again.later[at] = v
	}
	s.then = *t
	s.then.AsOf = t.AsOf.Add(horizons[at])
	if _, news := taskSeen(v, &s.then, before); news {
		return false
	}
	_, alive := v.Alive(&s.then)
	return alive && s.silent(v, &s.then)
}

// Ended settles what the plain rows come to, of those that were read and those that were not, and reports whether each
// row that was to be read was.
func (s *Sieve) Ended(asOf time.Time) bool {
	st, heard := s.again, s.plain.Heard
	s.plain = reconcile.Plain{AsOf: asOf, Heard: heard}
	p := &s.plain
	p.Room(&s.v.S.Memory)
	newest := reconcile.MomentOf(time.Time{})
	active, made := newest, newest
	for _, rows := range st.rows {
		for i := range rows {
			row := &rows[i]
			if !row.plain {
				continue
			}
			p.AddAt(row.at, &st.only)
			newest, active, made = max(newest, row.newest), max(active, row.active), max(made, row.made)
			p.BeatGap = max(p.BeatGap, row.beatGap)
			p.Beats = p.Beats || row.beats
			if row.acts {
				p.Actors++
			}
			for c := range p.Clocks {
				p.Clocks[c] += int(row.clocks >> c & 1)
			}
		}
	}
	p.Newest, p.Active, p.Made = newest.Time(), active.Time(), made.Time()
	whole := st.asked == len(st.pending)
	st.pending, st.later = nil, [len(horizons)]*view.View{} // both hold much of this pass
	return whole
}

// Read takes that a row was read.
func (s *Sieve) read(id string) {
	if row := s.again.pending[id]; row != nil && !row.read {
		row.read = true
		s.again.asked++
	}
}
