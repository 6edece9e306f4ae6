package platform

import (
	"errors"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A watch is what the properties remember of the trace: who read what, who claimed what,
// what was begun and what was done.
type watch struct {
	platform *Platform
	steps    int // the number of the newest step
	at       time.Time
	procs    map[string]*process
	acts     map[string]*acted // by action
	boxes    map[reconcile.Ref]*ending
	begun    []begin
	sights   map[reconcile.Ref][]time.Time // full passes that found a sandbox to be an orphan; ledger's clock
	gap      time.Time                     // when the newest gap between passes ended
	full     []time.Time                   // when complete full passes were recorded
	began    []time.Time                   // the times of the complete passes; ledger's clock
	done     []time.Time                   // when they were recorded; ledger's clock
	probed   []probeSeen
	lied     map[string]time.Time // when a listing of a provider lied on purpose
	doubted  map[string]time.Time // since when a source of all is not trusted, where one tenant alone does wrong
	let      map[string]bool      // what an operator released, alone and with each subject
	before   *row                 // the row as it was before the write of this step
	was      truthBefore          // what was true of its task then
	rules    map[string]string    // by action
	agreed   map[string]bool      // actions that the design accepted when they were planned
}

// A process as the trace shows it.
type process struct {
	platform *Platform
	name     string
	policy   reconcile.Policy
	former   reconcile.Policy       // by which what was claimed until changed is carried out
	changed  moment                 // when it read its config last
	claims   map[string]*claim      // those it took, by action
	rows     map[string]moment      // its newest read of a row, by task; also of one that is absent
	again    map[string]moment      // its newest read of a row by key
	keys     map[string]moment      // its newest read of the rows that name a sandbox, by key
	boxes    map[reconcile.Ref]look // its newest direct looks
	live     moment                 // its newest read of the live set
	wishes   moment                 // its newest read of the controls
	wish     reconcile.Controls
	last     time.Time // when it did something last
	woke     time.Time // when it did something again after it had not for long: it may have been frozen
	pass     int64
	began    moment          // that pass
	count    int             // live rows of its newest read; -1: not read in this pass
	stale    map[string]bool // the providers whose newest listing lagged
	listed   map[string]bool // the listings of its present pass, true for one that failed

	shownAt map[string]time.Time // by provider: the newest listing that was whole and true
	missed  map[string]bool      // the providers whose newest search left out what is there
	omits   map[string]bool      // providers whose last search left something out
}

// truthBefore is what was true of a task before its row was written: the write changes it.
type truthBefore struct {
	work   string // that it did, and that the design does not give up
	linked bool   // its row and its sandbox knew each other
	step   int    // the last step before the truth had changed last
}

// A moment is when something was read.
type moment struct {
	step int
	at   time.Time
}

// A look is a direct get of a sandbox.
type look struct {
	moment
	gone  bool
	known bool // the provider answered
	seen  reconcile.Sandbox
}

type claim struct {
	moment
	action reconcile.Action
}

// acted is what the trace knows of one action.
type acted struct {
	action  reconcile.Action
	effects int
}

type ending struct {
	at   time.Time
	by   string
	told bool // the process was told that it was accepted
	late bool // the process was frozen while the call was on its way: its ledger knows an earlier time
}

type begin struct {
	at      time.Time // ledger's clock
	pass    int64
	action  string
	rowOnly bool
	process string
}

type probeSeen struct {
	at       time.Time
	provider string
	n        int
}

func newWatch(t *Platform) *watch {
	return &watch{platform: t, procs: map[string]*process{}, acts: map[string]*acted{}, boxes: map[reconcile.Ref]*ending{},
		sights: map[reconcile.Ref][]time.Time{}, let: map[string]bool{}, doubted: map[string]time.Time{},
		lied:  map[string]time.Time{},
		rules: map[string]string{}, agreed: map[string]bool{}}
}

// Begins tells of a process that starts, or that reads its config again, with its policy.
func (t *Platform) Begins(name string, p reconcile.Policy) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.watch.process(name)
	of.former, of.policy, of.changed = of.policy, copyPolicy(&p), moment{t.watch.steps, t.now()}
}

// process is what is known of one; of an unknown one, nothing yet, with the platform's policy.
func (w *watch) process(name string) *process {
	if p := w.procs[name]; p != nil {
		return p
	}
	p := &process{platform: w.platform, name: name, policy: w.platform.policy,
		claims: map[string]*claim{}, rows: map[string]moment{},
		again: map[string]moment{}, keys: map[string]moment{}, boxes: map[reconcile.Ref]look{},
		listed: map[string]bool{}, stale: map[string]bool{},
		shownAt: map[string]time.Time{}, missed: map[string]bool{}, omits: map[string]bool{}}
	w.procs[name] = p
	return p
}

// looks reports whether the process may only look.
func (p *process) looks() bool { return strings.HasPrefix(p.name, "look") }

// lanes reports whether the process does several things at once, so that its reads do not tell
// which of them they were for.
func (p *process) lanes() bool { return strings.HasPrefix(p.name, "replica") }

// read notes what the process learned by a call.
func (p *process) read(s *Step, now moment) {
	switch s.Call {
	case "Recall":
		p.listed, p.count = map[string]bool{}, -1
	case "Live":
		p.readLive(s, now)
	case "ByID", "BySandbox":
		p.readRows(s, now)
	case "Get":
		p.readBox(s, now)
	case "Controls":
		if c, ok := s.Answer.(reconcile.Controls); ok && s.Err == nil {
			p.wishes, p.wish = now, c
		}
	case "BeginPass":
		if id, ok := s.Answer.(int64); ok && s.Err == nil {
			p.pass, p.began = id, now
		}
	case "Find", "Named":
		if p.omits[s.Party] = s.Struck == "omit"; s.Call == "Find" {
			p.missed[s.Party] = s.Struck == "empty"
		}
	case "List":
		l, ok := s.Answer.(reconcile.Listing)
		p.stale[s.Party] = s.Struck == "stale"
		if strings.HasPrefix(s.Struck, "lie-") {
			p.platform.watch.lied[s.Party] = now.at
		}
		p.listed[s.Party] = s.Err != nil || ok && !l.Complete
		if s.Err == nil && s.Struck == "" && ok && l.Complete {
			p.shownAt[s.Party] = now.at
		}
		p.shown(s)
	}
}

// shown notes which sandboxes a listing without a fault has shown to be their tasks'. What only a plan
// saw, which writes nothing, no later pass knows.
func (p *process) shown(s *Step) {
	if s.Err != nil || s.Struck != "" || p.pass == 0 {
		return
	}
	for _, b := range p.platform.boxOrder {
		if b.ref.Provider == s.Party && b.there() && b.task != nil && b.kept == nil &&
			(b.former != nil && b.former.shown || p.platform.watch.linked(b.task, b)) {
			b.shown = true
			b.noted = b.noted || b.former != nil && b.former.noted || !p.platform.undated(b.cloud)
		}
	}
}

// undated reports whether rows alone prove which sandboxes of a provider are ours, and its clock is off, so that nobody
// knows which of a row and its sandbox is the older one: none is remembered while that lasts.
func (t *Platform) undated(c *cloud) bool {
	off := t.clocks.of(c.name).Sub(t.now()).Abs()
	return c.entry.Owns.Referenced && off > reconcile.ProviderSkew
}

func (p *process) readLive(s *Step, now moment) {
	rows, ok := s.Answer.(reconcile.Rows)
	if !ok || s.Err != nil {
		return
	}
	p.live, p.count = now, len(rows.Tasks)
	for i := range rows.Tasks {
		p.rows[rows.Tasks[i].ID] = now
	}
}

func (p *process) readRows(s *Step, now moment) {
	asked, ok := s.Args.([]string)
	if !ok || s.Err != nil {
		return
	}
	for _, id := range asked {
		if s.Call == "ByID" {
			p.rows[id], p.again[id] = now, now
		} else {
			p.keys[id] = now
		}
	}
	if rows, ok := s.Answer.(reconcile.Rows); ok {
		for i := range rows.Tasks {
			p.rows[rows.Tasks[i].ID] = now
		}
	}
}

func (p *process) readBox(s *Step, now moment) {
	ref := reconcile.Ref{Provider: s.Party, ID: s.ID}
	l := look{moment: now, known: s.Err == nil, gone: isGone(s.Err)}
	if sb, ok := s.Answer.(reconcile.Sandbox); ok {
		l.seen = sb
	}
	if before := p.boxes[ref]; p.lanes() && !l.known && before.known {
		return // it may be another lane that could not look
	}
	p.boxes[ref] = l
}

func isGone(err error) bool { return errors.Is(err, reconcile.ErrNotFound) }
