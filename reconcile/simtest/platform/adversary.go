package platform

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// Evil is the tenant that attacks the others. Its tasks have ids that begin with x.
const Evil = "evil"

// A forgery is what a row of the evil tenant's shows, whatever is true.
type forgery struct{ beats, ahead, finished, older, names bool }

// tenancy tells tasks of several tenants apart. Alone: nothing goes wrong but what the evil one does.
type tenancy struct {
	tenants int
	alone   bool
	forged  map[string]forgery // by task
	named   map[string]forgery // by task of somebody else, in whose name events were written
	planted map[string]bool    // by action: written into the ledger by somebody who may not ask for anything
	claimed map[string]bool    // tasks whose label, or whose sandbox's name, the evil tenant uses
}

// tenantsEvent lets rows say whose they are. Operators sign what they ask for.
func tenantsEvent(t *Platform, a *args) {
	t.tenancy = tenancy{tenants: a.count(0, 3), alone: a.yes("alone"), forged: map[string]forgery{},
		named: map[string]forgery{}, planted: map[string]bool{}, claimed: map[string]bool{}}
	t.policy.Tasks.Tenants = true
	t.Ledger.Seal([][]byte{[]byte("the key of the operators of this town")})
}

// tenantOf is whose a task is; "" where rows do not tell.
func (y *tenancy) tenantOf(id string) string {
	switch {
	case y.tenants == 0:
		return ""
	case isEvil(id):
		return Evil
	}
	return fmt.Sprintf("tenant-%d", reconcile.Sum(id)%uint64(y.tenants))
}

func isEvil(id string) bool { return id != "" && id[0] == 'x' }

// excused reports whether the repair of a task may wait for a person: it is the evil tenant's, or a sandbox of that one
// carries its label, which by itself nobody can tell from its own (signed links can), or two rows name its sandbox,
// which proves nothing of either.
func (y *tenancy) excused(id string) bool { return isEvil(id) || y.claimed[id] }

// forge shows in a row what the evil tenant wants to be seen.
func (y *tenancy) forge(t *reconcile.Task) {
	t.Tenant = y.tenantOf(t.ID)
	f := y.forged[t.ID]
	if of := y.named[t.ID]; of != (forgery{}) {
		f = of
	}
	if f.beats {
		t.Events.Heartbeat, t.Events.Activity = t.AsOf, t.AsOf
	}
	if f.ahead {
		t.UpdatedAt = t.AsOf.Add(time.Hour)
	}
	if f.finished {
		t.Events.Finished = t.AsOf
	}
	if f.older { // than any sandbox, which would then be made after its row
		t.CreatedAt = t.AsOf.Add(-30 * 24 * time.Hour)
	}
}

// evilEvent is what the evil tenant does, or a role of the database that has no right to.
func (t mishaps) evilEvent(a *args) {
	id, what := a.word(0), a.word(1)
	k := t.tasks[id]
	if t.tenancy.tenants == 0 || k == nil || !isEvil(id) {
		return
	}
	t.count("evil " + what)
	t.tell("evil %s: %s", id, what)
	f := t.tenancy.forged[id]
	switch what {
	case "beats":
		f.beats = true
	case "ahead":
		f.ahead = true
	case "finished":
		f.finished = true
	case "older":
		f.older = true
	case "name":
		f.names = true
		t.nameBoxOf(id, a.word(2))
	case "take":
		f.names = true
		t.nameForeign(id)
	case "vanish":
		delete(t.table.rows, id)
	case "label":
		t.claimLabel(k, a.word(2))
	case "nul":
		t.setOwnLabel(k, a.word(2)+"\x00")
	case "beat-for", "finish-for":
		t.speakFor(a.word(2), what == "finish-for")
	case "plant":
		t.plant(a.word(2))
	}
	t.tenancy.forged[id] = f
	k.changed(t.Platform)
}

// speakFor writes an event in the name of somebody else's task: a heartbeat, or that it is done. Who does not sign
// events cannot tell them apart, so that what is wrong with that one may wait; harmed by it is nothing.
func (t mishaps) speakFor(of string, finished bool) {
	if t.tasks[of] != nil && !isEvil(of) {
		t.tenancy.claimed[of] = true
		t.tenancy.named[of] = forgery{beats: !finished, finished: finished}
	}
}

// claimLabel puts the label of somebody else's task on the sandbox of the evil tenant's.
func (t mishaps) claimLabel(k *task, of string) {
	if k.box.there() && k.box.cloud.byLabel {
		t.tenancy.claimed[of] = true
	}
	t.setOwnLabel(k, of)
}

func (t mishaps) setOwnLabel(k *task, of string) {
	if b := k.box; b.there() && b.cloud.byLabel {
		b.cloud.world.Change(b.ref.ID, func(s *simulated.Sandbox) {
			s.Labels = map[string]string{labelOwner: "ours", labelTask: of}
		})
	}
}

// nameBoxOf lets the row of the evil tenant's name the sandbox of somebody else's task.
func (t mishaps) nameBoxOf(id, of string) {
	if r := t.table.rows[of]; r != nil && r.Sandbox != "" && !isEvil(of) {
		key := r.Sandbox
		t.tenancy.claimed[of] = true
		t.table.change(id, func(r *row) { r.Sandbox = key })
	}
}

// nameForeign lets it name a sandbox in the same account that is not the platform's at all.
func (t mishaps) nameForeign(id string) {
	for _, b := range t.fleet().places(foreign) {
		key := b.ref.ID
		if !b.cloud.byID {
			key = b.name
		}
		if key != "" {
			t.table.change(id, func(r *row) { r.Sandbox = key })
			b.unwatched = b.unwatched || t.table.rows[id].unwatched(b)
			return
		}
	}
}

// unwatched reports whether a sandbox came in the same time without a read of the live set as the row, and before it. A
// row that is dated back to before the sandbox reads like an honest one then.
func (r *row) unwatched(b *box) bool {
	return r != nil && !r.unread.IsZero() && b.born.After(r.unread) && b.born.Before(r.came)
}

// plant writes into the ledger that an operator wants the sandbox of a task ended. The key it does not have.
func (t mishaps) plant(of string) {
	k := t.tasks[of]
	if k == nil || !k.box.there() {
		return
	}
	t.made++
	a := reconcile.Action{
		ID: fmt.Sprintf("planted%d", t.made), Rule: reconcile.RuleOperator, Subject: reconcile.TaskSubject(of), Task: of,
		Provider: k.box.ref.Provider, Sandbox: k.box.ref.ID, Step: reconcile.StepTerminate, Running: true, Anyway: true,
		Reason: "asked for",
	}
	a.Remedy = a.ID
	by := reconcile.Attribution{Author: "ana", Reason: "asked for"}
	t.Ledger.Seal(nil)
	_, err := t.Ledger.Ask(context.Background(), by, []reconcile.Action{a}, nil)
	t.Ledger.Seal([][]byte{[]byte("the key of the operators of this town")})
	t.tell("planted: %v", err)
	t.tenancy.planted[a.ID] = err == nil
}

// planted is P15: "A row of the ledger that somebody without that right wrote is no command."
func (w *watch) planted(d *effect) string {
	if d.a != nil && w.platform.tenancy.planted[d.a.ID] {
		return d.what() + " was planted in the ledger"
	}
	return ""
}

// anothers is P15: "Nothing of one tenant is harmed by what another has written." A verdict on a task of the evil
// tenant's touches no sandbox in which somebody else's live task is, whatever the row or a label says. A task that
// waits to be tried again is in none: what its earlier attempt had is not its own any more, once its row let it go.
func (w *watch) anothers(d *effect) string {
	if d.a == nil || !isEvil(d.a.Task) || d.asked() || d.b == nil || d.b.task == nil || isEvil(d.b.task.id) {
		return ""
	}
	k := d.b.task
	r := w.platform.table.truly(k.id)
	if !d.ends() || k.box != d.b || r == nil || !r.State.Live() {
		return ""
	}
	if r.State == reconcile.TaskPending && !w.linked(k, d.b) && w.platform.truth().early(r, d.b) == "" {
		return ""
	}
	if d.a.Rule == "over-age" {
		return "" // by its own age, whosever it is: that it is as old asks `early`
	}
	return fmt.Sprintf("%s: it is in use by %s, of another tenant", d.what(), k.id)
}

// heldUp is P15: "No tenant holds up the repair of another for longer than its bound." What is everybody's is believed
// again within the bound, whatever one tenant shows. Beside few others it may make a moment of theirs, like a sandbox
// that the index does not show yet, into a doubt of most, which ends with that moment.
func (w *watch) heldUp(r *run.Result) []string {
	var out []string
	if !w.platform.tenancy.alone || r.Judged == nil {
		return nil
	}
	for _, s := range r.Judged.Sources {
		_, listing := reconcile.OfKind(reconcile.SourceListing, s.Name)
		silent := (s.Name == reconcile.SourceEvents || s.Name == reconcile.SourceLink) && w.platform.truth().allSilent()
		idle := s.Name == reconcile.SourceActivity && w.platform.truth().allIdle()
		_, tenant := reconcile.SourceTenant(s.Name)
		if s.Trusted || tenant != "" || listing || silent || idle {
			delete(w.doubted, s.Name)
			continue
		}
		if w.doubted[s.Name].IsZero() {
			w.doubted[s.Name] = w.platform.now()
		}
		if since := w.platform.now().Sub(w.doubted[s.Name]); since > w.heldMost() {
			out = append(out, fmt.Sprintf("%s is not trusted for %s, because of one tenant: %s", s.Name, since, s.Reason))
		}
	}
	return out
}

// heldMost is the bound of P15: the next full pass, and one more that has to agree with it.
func (w *watch) heldMost() time.Duration { return 2*w.platform.policy.Full + time.Minute }

// allSilent reports whether no worker of any other tenant's running tasks lives: that nobody is heard is true, and one
// tenant's row more or less only tells when that is doubted.
func (t truth) allSilent() bool {
	return !slices.ContainsFunc(t.order, func(k *task) bool {
		r, w := t.table.rows[k.id], k.worker()
		return !t.tenancy.excused(k.id) && r != nil && r.State == reconcile.TaskRunning && w.well()
	})
}

// allIdle reports whether no worker of any other tenant's running tasks showed that it was active for as long as the
// rule inactive allows: that nobody is seen to work is true then.
func (t truth) allIdle() bool {
	limit, now := t.policy.Rules["inactive"].After, t.now()
	return !slices.ContainsFunc(t.order, func(k *task) bool {
		r, w := t.table.rows[k.id], k.worker()
		running := !t.tenancy.excused(k.id) && r != nil && r.State == reconcile.TaskRunning
		return running && w.well() && (t.kind.tasks.Events || w.speaks()) && now.Sub(w.lastAct(now)) <= limit
	})
}
