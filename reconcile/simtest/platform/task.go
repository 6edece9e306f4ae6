package platform

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A task is one of the platform's, with what will become of it and what truly did.
type task struct {
	habits
	id       string
	attempt  int
	key      string // what the present attempt's row and events are named by; "" before
	box      *box   // the present attempt's sandbox; nil when there is none
	workers  []*worker
	never    bool      // the worker of the present attempt never starts
	handed   time.Time // when the present attempt was handed out
	kept     time.Time // until when a person keeps its sandbox
	entered  time.Time // its row's present state
	restored bool      // its row was set back from a backup
	asked    int       // how often a person asked for more
	touched  time.Time // when a person last did something with it
	step     int       // the last step before its truth changed
}

// Habits are how a task goes when nothing happens to it.
type habits struct {
	pick   time.Duration // from pending to handed out
	row    time.Duration // from the row's write to the sandbox's creation; below 0: the other way round
	boot   time.Duration // from a running sandbox to a worker
	bind   time.Duration // from the sandbox's creation to its name in the row
	work   time.Duration // from the worker's start to its end; 0: it works on
	beat   time.Duration
	act    time.Duration
	keep   time.Duration // keep-alive after its end
	limit  time.Duration // the row's timeout; 0: none
	by     time.Duration // the row's deadline after its start; 0: none
	retry  time.Duration // a person tries it again so long after it failed; 0: nobody does
	again  time.Duration // the orchestrator comes back after a crash; 0: never
	max    int           // attempts
	temp   string        // template
	cloud  string
	crash  string // where the orchestrator crashes: "row", "sandbox", "bind"; "": nowhere
	end    string // what becomes of its sandbox: "now", "keep", "linger"
	record string // what becomes of its row: "row", "late", "lost"
	firm   bool   // no fall-back from the template to an image
	note   bool   // a start that failed is noted in the row
	name   string // of its sandbox, in every attempt; "": one that is made up
}

func habitsOf(a *args) habits {
	return habits{
		pick: a.dur("pick", 10*time.Second), row: a.dur("row", 2*time.Second), boot: a.dur("boot", 10*time.Second),
		bind: a.dur("bind", 2*time.Second),
		work: a.dur("work", 0), beat: a.dur("beat", 30*time.Second), act: a.dur("act", 40*time.Second),
		keep: a.dur("keep", 0), limit: a.dur("timeout", 0), by: a.dur("deadline", 0), retry: a.dur("retry", 0),
		again: a.dur("again", 0), max: a.num("max", 3), temp: a.text("template", "light"), cloud: a.text("provider", ""),
		crash: a.text("crash", ""), end: a.text("end", "now"), record: a.text("record", "row"),
		firm: a.yes("firm"), note: a.yes("note"), name: a.text("name", ""),
	}
}

// worker is the newest one since the task was handed out last, nil when none began.
func (k *task) worker() *worker {
	if n := len(k.workers); n > 0 && k.workers[n-1].key == k.key && !k.workers[n-1].began.Before(k.handed) {
		return k.workers[n-1]
	}
	return nil
}

// workerGone reports whether the present attempt has had a worker, which is no more.
func (k *task) workerGone() bool {
	of := k.worker()
	return of != nil && !of.ended.IsZero()
}

// changed notes when the truth of the task changed: who read it before could not know.
func (k *task) changed(t *Platform) { k.step = t.watch.steps }

// taskEvent puts a task into the world: as a user makes one, or as it is in the middle of its life.
func (t maker) taskEvent(a *args) {
	id := a.word(0)
	if t.tasks[id] != nil || !isID(id) {
		return
	}
	k := &task{id: id, habits: habitsOf(a), entered: t.now()}
	t.tasks[id] = k
	t.order = append(t.order, k)
	t.count("task " + a.word(1))
	age := a.dur("age", time.Hour)
	if a.word(1) == "new" {
		age = 0
	}
	r := &row{Task: reconcile.Task{ID: id, State: reconcile.TaskPending, Outside: a.yes("outside")}}
	r.CreatedAt = t.stamp(age)
	r.UpdatedAt = r.CreatedAt
	if t.kind.retries {
		r.Retries, r.MaxAttempts = true, k.max
	}
	r.Timeout = k.limit
	r.came, r.unread = t.now(), t.watch.lastRead()
	t.table.rows[id] = r
	k.changed(t.Platform)
	if a.word(1) == "new" {
		t.orchestrator().pickUp(k, k.pick)
		return
	}
	t.inTheMiddle(k, r, a, age)
}

// stamp is a moment so long ago by the task database's clock.
func (t maker) stamp(ago time.Duration) time.Time {
	return t.clocks.of(domainTasks).Add(-ago)
}

// inTheMiddle makes a task that has come as far as the event says.
func (t maker) inTheMiddle(k *task, r *row, a *args, age time.Duration) {
	state := map[string]reconcile.TaskState{"running": reconcile.TaskRunning, "completed": reconcile.TaskCompleted,
		"failed": reconcile.TaskFailed, "stopped": reconcile.TaskStopped, "assigned": reconcile.TaskAssigned}[a.word(1)]
	k.attempt, k.handed, k.entered = 1, t.now().Add(-age), t.now().Add(-age)
	k.key = t.keyOf(k)
	if a.text("sandbox", "yes") == "yes" {
		t.place(k, age)
	}
	r.State, r.Template, r.Provider = state, t.templateColumn(k), t.providerColumn(k)
	if state == reconcile.TaskUnknown {
		r.Status = "archived"
	}
	if t.kind.platform || k.box != nil {
		r.Sandbox = k.key
	}
	if t.kind.tasks.HasAssigned {
		r.AssignedAt = t.stamp(age)
	}
	r.Attempts = 0
	if state == reconcile.TaskRunning && k.box != nil {
		t.startRow(r, age)
		w := beginWorker(t.Platform, k, k.box)
		w.began = w.began.Add(-age)
		w.acts[0].from = w.began
		for i := range w.beats {
			w.beats[i].from = w.began
		}
		t.table.keys[k.key] = append(t.table.keys[k.key], w)
		t.orchestrator().plan(k, w)
	}
	if t.kind.name == "coding-agent" && state == reconcile.TaskRunning && k.box == nil {
		r.State = reconcile.TaskAssigned
	}
}

// startRow is what a worker's start writes into the row.
func (t maker) startRow(r *row, ago time.Duration) {
	if t.kind.name == "coding-agent" {
		return
	}
	r.StartedAt = t.stamp(ago)
	if k := t.tasks[r.ID]; k != nil && k.by > 0 {
		r.DeadlineAt = r.StartedAt.Add(k.by)
	}
}

// keyOf is what the row names the sandbox of the present attempt by, as far as that is known
// before there is one.
func (t maker) keyOf(k *task) string {
	if t.kind.platform {
		return fmt.Sprintf("%s-a%d", k.id, k.attempt)
	}
	if t.kind.name == "full" && t.fleet().cloud(k.cloud).byName {
		return t.fleet().boxName(k)
	}
	return ""
}

func (t maker) templateColumn(k *task) string {
	if t.kind.name == "full" {
		return k.temp
	}
	return ""
}

func (t maker) providerColumn(k *task) string {
	if t.kind.name == "full" {
		return k.cloud
	}
	return ""
}

// place puts a running sandbox of the task's present attempt into its cloud.
func (t maker) place(k *task, age time.Duration) {
	c := t.fleet().cloud(k.cloud)
	name := t.fleet().boxName(k)
	if t.fleet().holder(c, name) != nil {
		name += "-2"
	}
	s := c.world.Put(simulated.Sandbox{Template: k.temp, CreatedAt: c.world.Now().Add(-age), Name: name,
		Labels: t.labels(c, k), LastActivityAt: c.world.Now()})
	t.own(k, c, s)
	k.box.born = t.now().Add(-age)
}

func (t maker) own(k *task, c *cloud, s simulated.Sandbox) {
	b := t.fleet().put(c, s, ours)
	b.task = k
	if t.kind.platform {
		b.key = k.key
	} else {
		k.key = b.key
	}
	k.box = b
	k.changed(t.Platform)
}

// labels are those that the platform puts on a sandbox.
func (t maker) labels(c *cloud, k *task) map[string]string {
	labels := map[string]string{labelOwner: "ours"}
	if c.byLabel {
		labels[labelTask] = k.id
	}
	return labels
}
