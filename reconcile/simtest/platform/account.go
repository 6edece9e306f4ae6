package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An Account counts what a history came to, alike for whoever the janitor is: what was truly
// wrong, since when, and whether somebody put it right; and what healthy work was lost.
type Account struct {
	Wrongs []*Wrong
	Kills  []Kill
	Bill   Bill

	platform *Platform
	tasks    map[*task]*Wrong // open ones
	boxes    map[*box]*Wrong  // open ones
	held     []*box           // the sandboxes of the open ones, in their order
	lost     map[string]bool  // what was counted as lost already, by task and attempt or by sandbox
	billed   time.Duration    // until when the bill is made up, since the history began
	prior    prior
	ended    bool
}

// A prior is the truth of a task right before its row is written.
type prior struct {
	task   *task
	why    string
	excuse string
	step   int
}

// The kinds of what may be wrong, and a cause of which nothing can be seen.
const (
	WrongTask    = "dead task" // its row is live, nobody works at it and nobody will
	WrongSandbox = "leak"      // a sandbox of ours that is billed and that nobody needs
	NeverMade    = "no sandbox was made for it"
)

// A Wrong is one thing that was truly wrong. Its times are since the history began.
type Wrong struct {
	Kind    string
	Cause   string // as it was in the beginning
	Subject string
	Since   time.Duration
	Until   time.Duration // when it was no more, by whatever; the history's end while it lasts
	Deed    time.Duration // when the janitor did something about it; below 0: never
	Lasts   bool          // it was still wrong at the end
}

// A Kill is healthy work that the janitor ended.
type Kill struct {
	At      time.Duration
	What    string
	Why     string // what was lost
	Kind    string // "work", "queued", "kept", "foreign"
	Excused string // why nobody could have known better; "" when it could be known
}

// EverySo is how often the account is made up between the deeds: what is wrong is known to have begun so exactly.
const EverySo = 5 * time.Second

// Account begins an account of the platform, from now on.
func (t *Platform) Account() *Account {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &Account{platform: t, tasks: map[*task]*Wrong{}, boxes: map[*box]*Wrong{}, lost: map[string]bool{}}
	t.account, a.billed = a, a.now()
	a.tick()
	return a
}

// tick makes the account up, now and every so often. It is on the platform's agenda, so that the
// moments do not depend on who looks.
func (a *Account) tick() {
	if !a.ended {
		a.makeUp()
		a.platform.later(EverySo, a.tick)
	}
}

// Close ends the account.
func (a *Account) Close() {
	t := a.platform
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
	a.makeUp()
	a.ended = true
	for _, w := range a.Wrongs {
		if w.Until < 0 {
			w.Until, w.Lasts = a.now(), true
		}
	}
}

// Open are what is wrong now, and how long the history has gone on.
func (a *Account) Open() (open []*Wrong, now time.Duration) {
	t := a.platform
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range a.Wrongs {
		if w.Until < 0 {
			open = append(open, w)
		}
	}
	return open, a.now()
}

func (a *Account) now() time.Duration { return a.platform.now().Sub(a.platform.began) }

// makeUp opens and closes what is wrong as the truth is now.
func (a *Account) makeUp() {
	t := a.platform
	a.charge()
	for _, k := range t.order {
		if isEvil(k.id) {
			continue
		}
		w := a.tasks[k]
		a.tasks[k] = a.made(w, Wrong{Kind: WrongTask, Cause: t.truth().deadTask(k), Subject: "task " + k.id})
	}
	held := a.held
	a.held = nil
	for _, b := range t.boxOrder {
		if a.boxes[b] == nil && (b.task == nil || !isEvil(b.task.id)) {
			a.makeUpBox(b)
		}
	}
	for _, b := range held {
		a.makeUpBox(b) // the platform forgets those that are over
	}
}

func (a *Account) makeUpBox(b *box) {
	w := a.made(a.boxes[b],
		Wrong{Kind: WrongSandbox, Cause: a.platform.truth().leaks(b), Subject: "sandbox " + b.ref.String()})
	if w == nil {
		delete(a.boxes, b)
		return
	}
	a.boxes[b] = w
	a.held = append(a.held, b)
}

// made is the open entry after another look: a new one, the old one, or none any more.
func (a *Account) made(open *Wrong, now Wrong) *Wrong {
	switch {
	case now.Cause != "" && open == nil:
		now.Since, now.Until, now.Deed = a.now(), -1, -1
		a.Wrongs = append(a.Wrongs, &now)
		return &now
	case now.Cause == "" && open != nil:
		open.Until = a.now()
		return nil
	}
	return open
}

// before takes the truth of a task whose row is about to be written.
func (a *Account) before(k *task) {
	if a == nil || a.ended || k == nil {
		return
	}
	a.prior = prior{task: k, why: a.platform.truth().work(k), excuse: a.platform.truth().excuse(k), step: k.step}
}

// note counts a deed, before its effect is looked at. A nil account counts nothing.
func (a *Account) note(w *watch, d *effect) {
	if a == nil || a.ended || d.Call == "Restore" {
		return
	}
	subject, open := "sandbox "+reconcile.Ref{Provider: d.Party, ID: d.ID}.String(), a.boxes[d.b]
	if d.write != nil {
		subject, open = "task "+d.write.Task.ID, a.tasks[d.k]
	}
	if open != nil && open.Deed < 0 {
		open.Deed = a.now()
	}
	if k := a.kill(w, d); k.Why != "" && !a.counted(d) {
		k.At, k.What = a.now(), string(d.Call)+" of "+subject
		a.Kills = append(a.Kills, k)
	}
}

// counted reports whether the loss was counted before: ending a task and its sandbox is one.
func (a *Account) counted(d *effect) bool {
	key := d.Party + "/" + d.ID
	if d.k != nil {
		key = d.k.id + " " + d.k.key
	}
	was := a.lost[key]
	a.lost[key] = true
	return was
}
