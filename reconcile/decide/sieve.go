package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A Sieve tells, as a pass reads the live rows, the plain ones from those that are to be judged: a large fleet is
// mostly plain, and what is not kept takes no memory. A row is plain when its task runs and its worker lives, when it
// and its one sandbox are as the ledger has them, but for newer signs of life, when nothing is open about either, and
// when no rule, asked of the row alone, finds anything or wants a look. In a full pass that sandbox is listed and runs,
// and either of them may be new to the ledger.
//
// What is found among the others rests on all of them, so nothing is begun on it: where [Sieve.Stands] says that it
// comes to anything that may be acted on, everybody is read.
type Sieve struct {
	v      *view.View // before the rows
	open   map[string]bool
	listed *fleet.Listing               // of a full pass
	boxes  reconcile.TaskNotes[onlyBox] // by task that is remembered
	others map[string]onlyBox           // by one that is not
	plain  reconcile.Plain
	heard  fleet.Pieces[reconcile.CompactTask] // what is to be remembered, one behind the other
	twice  bool                                // a row came twice

	again *Standing // of a quick pass that reads what has changed; nil where all rows are asked about

	then reconcile.Task    // the row that is asked about, as it will be later
	seen reconcile.Sandbox // of the row that is asked about, and again of the next one
	box  [1]reconcile.SeenSandbox
	of   reconcile.Subject
}

// An onlyBox is the one sandbox that is remembered of a task, or listed and new; nothing is where there are more.
type onlyBox struct {
	was   *reconcile.CompactSandbox // the names of a new one
	place fleet.Place               // in the listing of a full pass
	shown int32                     // how often it is there
	some  bool                      // there is one, or more
}

// only is the one sandbox of a task, of which that is remembered; nil where nothing is.
func (s *Sieve) only(task string, was *reconcile.CompactTask) onlyBox {
	if was != nil && s.again == nil {
		return *s.boxes.Of(was)
	}
	return s.others[task]
}

// note notes the one sandbox of a task likewise.
func (s *Sieve) note(task string, was *reconcile.CompactTask, b onlyBox) {
	if was != nil {
		*s.boxes.Of(was) = b
	} else {
		s.others[task] = b
	}
}

// NewSieve is the sieve of a pass that has recalled the ledger and read no row yet; nil where everybody has to be
// read: where tenants are judged apart, where a later sandbox goes on under the name of one that ended, while a source
// is not trusted or an incident is open, and in a full pass where a row makes a sandbox ours, a listing is not whole,
// or shows the tasks of few.
func NewSieve(s *reconcile.Snapshot, p *reconcile.Policy, listed *fleet.Listing) *Sieve {
	if !sieves(s, p) {
		return nil
	}
	v := &Sieve{v: view.Before(s, p), open: openTasks(s),
		boxes: reconcile.NoteTasks[onlyBox](s.Memory.Tasks), others: map[string]onlyBox{}}
	for _, kept := range s.Memory.Sandboxes.Kept() {
		task := kept.Task()
		was := s.Memory.TaskOf(kept)
		b := v.only(task, was)
		if b.some || kept.Gone() {
			kept = nil
		}
		v.note(task, was, onlyBox{some: true, was: kept})
	}
	if s.Kind == reconcile.Full {
		if known, fresh := v.list(listed); 2*(known+fresh) < max(v.lived(), fresh) {
			return nil
		}
	}
	return v
}

// sieves reports whether nothing says that everybody has to be read.
func sieves(s *reconcile.Snapshot, p *reconcile.Policy) bool {
	if p.Tasks.None || p.Tasks.Tenants || s.Clock.Standby || s.Clock.Empty {
		return false
	}
	for name, entry := range p.Providers {
		list := s.Listings[name]
		part := list.Error != "" || !list.Complete || entry.Referenced
		if entry.NamesLast || s.Kind == reconcile.Full && part {
			return false
		}
	}
	for _, seen := range s.Memory.Sources {
		if !seen.Trusted {
			return false
		}
	}
	return len(s.Memory.Controls.Incidents)+len(s.Memory.Controls.Breakers) == 0
}

// lived is how many tasks were live when the ledger was written to last.
func (s *Sieve) lived() (n int) {
	for _, kept := range s.v.S.Memory.Tasks.Kept() {
		if kept.Live() {
			n++
		}
	}
	return n
}

// list notes where the sandboxes stand in the listing of a full pass, and counts those that may be plain.
func (s *Sieve) list(listed *fleet.Listing) (known, fresh int) {
	s.listed = listed
	s.plain.At = map[string]*reconcile.PlainAt{}
	listed.Each(func(place fleet.Place, was *reconcile.CompactSandbox) bool {
		task := was.Task()
		of := s.v.S.Memory.TaskOf(was)
		b := s.only(task, of)
		switch {
		case place.Fresh() && b.some:
			b = onlyBox{some: true}
		case place.Fresh():
			b, fresh = onlyBox{was: was, place: place, shown: 1, some: true}, fresh+1
		case b.was == was:
			b.place, b.shown = place, b.shown+1
			if !listed.Strange(task) {
				known++
			}
		default:
			return true
		}
		s.note(task, of, b)
		return true
	})
	return known, fresh
}

// openTasks are the tasks that something is open about, by what was found, done and ruled, and by what their sandboxes
// do.
func openTasks(s *reconcile.Snapshot) map[string]bool {
	open, m := map[string]bool{}, &s.Memory
	about := func(subject, task string, ref reconcile.Ref) {
		if id, isTask := reconcile.OfType(reconcile.SubjectTask, subject); isTask {
			open[id] = true
		}
		open[task], open[m.Sandboxes.Of(ref).Task] = true, true
	}
	for key, f := range m.Findings {
		about(key.Subject, f.Task, reconcile.Ref{Provider: f.Provider, ID: f.Sandbox})
	}
	for i := range m.Actions {
		a := &m.Actions[i]
		about(a.Subject, a.Task, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	}
	for i := range m.Verdicts {
		w := &m.Verdicts[i]
		about(w.Subject, w.Task, reconcile.Ref{Provider: w.Provider, ID: w.Sandbox})
	}
	for ref, probes := range m.Probes {
		if len(probes.Failures) > 0 || probes.Queues() {
			about("", "", ref)
		}
	}
	for _, ref := range s.Pushed {
		about("", "", ref)
	}
	return open
}

// Plain reports whether a row is plain, and counts it. Of one that is not, it may be asked again with more of its
// events.
func (s *Sieve) Plain(t *reconcile.Task) bool {
	if s.again != nil {
		s.read(t.ID)
	}
	was, known := s.v.S.Memory.Tasks.At(t.ID)
	only := s.only(t.ID, was)
	switch {
	case !known && s.listed == nil || only.was == nil || s.open[t.ID]:
		return false
	case t.State != reconcile.TaskRunning || t.Outside || t.Mark != "" || !view.InTime(t):
		return false
	case s.plain.Has(was) || s.listed != nil && only.place.Taken():
		s.twice = true
		return false
	}
	before := view.SeenTask{TaskSeen: was.Seen(), Known: known}
	seen, changed := taskSeen(s.v, t, &before)
	if known && (!before.Live || t.UpdatedAt.Before(before.UpdatedAt) || changed && !onlyHeard(seen, &before.TaskSeen)) {
		return false // one that became older may speak against the table
	}
	age, alive := s.v.Alive(t)
	if !alive {
		return false
	}
	if s.listed == nil {
		b := only.was.Seen()
		s.seen = reconcile.Sandbox{Ref: b.Ref, Name: b.Name, Template: b.Template}
		s.box[0] = reconcile.Box(&s.seen)
		s.box[0].Was, s.box[0].Known = only.was, true
	} else if suspect := view.TaskDue(t) && age > s.v.Limit-2*s.v.P.Quick; suspect || t.Waits() || !s.shows(t, &only) {
		return false // suspect: who probes in a full pass asks it before others, and asks none that waits
	}
	if !s.silent(s.v, t) {
		return false
	}
	if s.listed != nil && !s.takeBox(&only) {
		return false
	}
	if changed {
		is := s.heard.Add(&reconcile.CompactTask{})
		is.Keep(seen)
		s.plain.Heard = append(s.plain.Heard, is)
	}
	if s.again != nil {
		s.again.stand(s, t, &before, was, changed)
		return true
	}
	s.v.Count(t, &before, was, &s.plain)
	return true
}

// silent reports whether no rule has anything to say of the row by a view.
func (s *Sieve) silent(v *view.View, t *reconcile.Task) bool {
	s.of = v.TaskSubject(t, s.box[:])
	d := Decide(v, &s.of)
	return len(d.Findings) == 0 && !d.Look && !d.Probe
}

// onlyHeard reports whether all that is news of a row is that its worker gave a sign of life.
func onlyHeard(seen reconcile.TaskSeen, before *reconcile.TaskSeen) bool {
	seen.UpdatedAt, seen.BeatAt, seen.BeatGap = before.UpdatedAt, before.BeatAt, before.BeatGap
	return taskSeenSame(&seen, before)
}

// takeBox counts the one sandbox of a row that is plain in a full pass, if it is plain as well.
func (s *Sieve) takeBox(only *onlyBox) bool {
	b := &s.box[0]
	seen, changed := rememberBox(s.v, &s.of, b)
	if changed == b.Known {
		return false // it is known and has changed, or it is new and nothing is to be remembered of it
	}
	if !b.Known {
		seen.ShareTexts(&s.v.S.Memory)
		s.plain.Fresh = append(s.plain.Fresh, only.place.Know(seen))
	}
	only.place.Take()
	s.v.CountBox(b, &s.plain)
	return true
}

// shows reports whether the listing shows the one sandbox of a task as one that is plain: it runs, is ours, and its
// label, which the row does not contradict, is all that it is called by.
func (s *Sieve) shows(t *reconcile.Task, only *onlyBox) bool {
	if only.shown != 1 || s.listed.Strange(t.ID) {
		return false
	}
	only.place.Fill(&s.seen)
	sb := &s.seen
	switch {
	case sb.Task != t.ID || sb.BadLink || !sb.Ours() || sb.State != reconcile.SandboxRunning:
		return false
	case sb.StableName || view.DatedAhead(sb):
		return false
	case t.Sandbox != "" && s.v.P.Tasks.SandboxKnown && !s.v.Names(t, sb):
		return false
	}
	if only.place.Fresh() {
		s.box[0] = s.v.BoxOf(sb, nil)
		return true
	}
	s.box[0] = s.v.BoxOf(sb, only.was)
	return s.box[0].Known
}

// Rows are the plain ones, when all rows were read.
func (s *Sieve) Rows() reconcile.Plain {
	s.boxes, s.others = reconcile.TaskNotes[onlyBox]{}, nil // nobody is asked about any more
	return s.plain
}

// Stands reports whether the judgement of those that were kept is what one of everybody comes to: the sources are as
// they were, nothing comes due and nothing is ruled, and nothing that was looked at has to do with a plain row.
func (s *Sieve) Stands(j *Judgement) bool { return s.stands(j) && !s.touched(j.View.S, nil) }

func (s *Sieve) stands(j *Judgement) bool {
	v := j.View
	if !s.settled(j) || len(j.Verdicts)+len(j.Over) > 0 {
		return false
	}
	plan := MakePlan(j, 0)
	if len(plan.Actions)+len(plan.Withdrawn)+len(plan.Breakers) > 0 {
		return false
	}
	for i := range plan.Findings {
		f := &plan.Findings[i]
		aboutOne := rules.Finds[f.Rule] != nil // what is found of a template, a clock or a quota is only told
		if aboutOne && f.Due && !v.S.Memory.Findings[f.Key()].Due {
			return false
		}
	}
	return true
}

// settled reports whether the sources are as they were, nothing is known of the fleet as a whole that was not, and no
// plain row came twice.
func (s *Sieve) settled(j *Judgement) bool {
	v := j.View
	if s.twice || !s.v.Like(v) || len(j.FalsePositives)+len(j.Incidents)+len(j.Demoted) > 0 {
		return false
	}
	for i := range v.S.Tasks {
		if was, known := v.S.Memory.Tasks.At(v.S.Tasks[i].ID); known && s.plain.Has(was) {
			return false // a row that came twice, and is not the same
		}
	}
	//guard:standing-doubled harm
	return s.again == nil || !namedTwice(v.S, j.words())
}

// touched reports whether something that was looked at, or that one of the words names, is a plain row's, by any name.
func (s *Sieve) touched(of *reconcile.Snapshot, words map[string]bool) bool {
	if words == nil {
		words = map[string]bool{}
	}
	say := func(ref reconcile.Ref, sb *reconcile.Sandbox) {
		for _, word := range [...]string{ref.ID, sb.ID, sb.Name, sb.Task, sb.SandboxKey, sb.AltKey,
			of.Memory.Sandboxes.Of(ref).Task} {
			words[word] = true
		}
	}
	if s.listed != nil {
		for i := range of.Tasks {
			words[of.Tasks[i].Sandbox] = true // two rows may name one sandbox
			words[of.Tasks[i].ID] = true      // a row may come twice
		}
	}
	for ref, look := range of.Lookups {
		say(ref, &look.Sandbox)
	}
	for i := range of.Sandboxes {
		say(of.Sandboxes[i].Ref, &of.Sandboxes[i])
	}
	for _, find := range of.Finds {
		for i := range find.Sandboxes {
			say(find.Sandboxes[i].Ref, &find.Sandboxes[i])
		}
	}
	delete(words, "")
	if len(words) == 0 {
		return false
	}
	for _, was := range of.Memory.Tasks.Kept() {
		if !s.plain.Has(was) {
			continue
		}
		if seen := was.Seen(); words[seen.ID] || words[seen.Sandbox] {
			return true
		}
	}
	for _, was := range s.plain.Heard {
		if seen := was.Seen(); words[seen.ID] || words[seen.Sandbox] {
			return true
		}
	}
	for was := range s.plain.EachSandbox(&of.Memory) {
		if seen := was.Seen(); words[seen.ID] || words[seen.Name] {
			return true
		}
	}
	return false
}
