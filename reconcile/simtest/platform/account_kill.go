package platform

import "github.com/sandkeeper/sandkeeper/reconcile"

// kill says what healthy work a deed ends; nothing when it ends none.
func (a *Account) kill(w *watch, d *effect) Kill {
	switch {
	case d.write != nil:
		was := a.prior
		a.prior = prior{}
		if d.k == nil || was.task != d.k {
			return Kill{}
		}
		return judged(was.why, excused(w.saw(d, was.step), was.excuse))
	case !d.ends() || d.b == nil || !d.b.there():
		return Kill{}
	case d.b.owner != ours:
		return Kill{Kind: "foreign", Why: "it is not ours but " + string(d.b.owner)}
	case d.k == nil:
		return judged(a.platform.truth().use(d.b), "")
	}
	return judged(a.platform.truth().use(d.b), excused(w.saw(d, d.k.step), a.platform.truth().excuse(d.k)))
}

// What a sandbox or a task is needed for, where it is no work that goes on.
const (
	waitsItsTurn = "it waits for its turn"
	keptForUser  = "it is kept alive for its user"
	userGoesOn   = "its user may go on in it"
)

// overLimit is no excuse but what somebody wants: the row itself says how long its work may take.
const overLimit = "it was past its own limits"

// judged sorts a loss by what was lost.
func judged(why, excuse string) Kill {
	k := Kill{Kind: "work", Why: why, Excused: excuse}
	if why == "" || excuse == overLimit {
		return Kill{}
	}
	switch why {
	case waitsItsTurn:
		k.Kind = "queued"
	case keptForUser, userGoesOn:
		k.Kind = "kept"
	}
	return k
}

func excused(saw bool, excuse string) string {
	if !saw {
		return "it began within the last moments"
	}
	return excuse
}

// saw reports whether the process could have seen the truth of the task, which changed last at
// a step: it read something of it since, or it did not look for too long.
func (w *watch) saw(d *effect, changed int) bool {
	read := d.p.rows[d.k.id]
	if d.b != nil {
		for _, m := range []moment{d.p.keys[d.b.ref.ID], d.p.boxes[d.b.ref].moment} {
			if m.step > read.step {
				read = m
			}
		}
	}
	return changed < read.step || w.at.Sub(read.at) > unavoidable
}

// excuse says why nobody who sees rows, events and sandboxes could know that the task is well.
// It is asked for every janitor, whatever rule it went by.
func (t truth) excuse(k *task) string {
	r := t.table.truly(k.id)
	if r == nil || r.State != reconcile.TaskAssigned && r.State != reconcile.TaskRunning {
		return ""
	}
	if t.overdue(r) {
		return overLimit
	}
	return ""
}
