package platform

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// goOn lets time pass and brings everybody up to it.
func goOn(platform *Platform, d time.Duration) {
	time.Sleep(d)
	platform.Advance()
}

// What rows and sandboxes know of each other, by each of the links that a provider may have.
func TestLinks(t *testing.T) {
	for link, names := range map[string]bool{"id": true, "name": true, "named": true, "both": true, "label": false} {
		onPlatform(t, "provider lab link="+link+"\ntask t1 running\n", func(t *testing.T, platform *Platform) {
			k := platform.tasks["t1"]
			r := platform.table.rows["t1"]
			if got := r.names(k.box); got != names || !platform.watch.linked(k, k.box) {
				t.Errorf("link=%s: the row names its sandbox: %t, want %t; linked: %t", link, got, names,
					platform.watch.linked(k, k.box))
			}
		})
	}
}

// A later sandbox of a name goes on with the work, and the row still holds the id of the former.
func TestRenew(t *testing.T) {
	onPlatform(t, "provider lab link=id lasting=yes\ntask t1 running\n", func(t *testing.T, platform *Platform) {
		k := platform.tasks["t1"]
		former, w := k.box, k.worker()
		does(t, platform, "sandbox t1 renew")
		goOn(platform, time.Minute)
		if k.box == former || k.box.name != former.name || former.there() || platform.truth().work(k) != "its worker is at work" {
			t.Errorf("in %s of name %s, former there: %t; work: %q", k.box.ref, k.box.name, former.there(), platform.truth().work(k))
		}
		if r := platform.table.rows["t1"]; k.worker() != w || r.Sandbox != former.ref.ID || r.names(k.box) {
			t.Errorf("the row holds %s", r.Sandbox)
		}
	})
}

// Nobody works between two sandboxes of a name, until somebody resumes it.
func TestRenewLater(t *testing.T) {
	onPlatform(t, "provider lab link=name lasting=yes\ntask t1 running boot=2s\n", func(t *testing.T, platform *Platform) {
		k := platform.tasks["t1"]
		does(t, platform, "sandbox t1 renew for 2m")
		goOn(platform, time.Minute)
		if why := platform.truth().work(k); why != "" || k.box.there() {
			t.Errorf("after a minute: %q", why)
		}
		goOn(platform, 2*time.Minute)
		if why := platform.truth().work(k); why != "its worker is at work" || !platform.table.rows["t1"].names(k.box) {
			t.Errorf("after three minutes: %q", why)
		}
	})
}

// A later task of a name works in what has it, once the earlier one is over and not before.
func TestTakeOver(t *testing.T) {
	for name, over := range map[string]bool{"worker t1 finish": true, "nothing": false} {
		onPlatform(t, "provider lab link=named lasting=yes\ntask t1 running name=n1 end=linger\n", func(t *testing.T, platform *Platform) {
			first := platform.tasks["t1"].box
			if over {
				does(t, platform, name)
			}
			does(t, platform, "task t2 new name=n1")
			goOn(platform, 2*time.Minute)
			k := platform.tasks["t2"]
			if got := k.box == first; got != over || over && (first.task != k || !platform.watch.linked(k, first)) {
				t.Errorf("%s: in the sandbox of its name: %t", name, got)
			}
			if why := platform.truth().use(first); (why == "its worker is at work") != true {
				t.Errorf("%s: %q", name, why)
			}
		})
	}
}

// A task that works in what has its name by now is told the id that this has now, not that of its former.
func TestTakeOverOfALaterOne(t *testing.T) {
	onPlatform(t, "provider lab link=id lasting=yes\ntask t1 running name=n1 end=linger\n", func(t *testing.T, platform *Platform) {
		former := platform.tasks["t1"].box
		for _, line := range []string{"sandbox t1 renew", "worker t1 finish", "task t2 new name=n1"} {
			does(t, platform, line)
		}
		goOn(platform, 2*time.Minute)
		later := platform.tasks["t2"].box
		if r := platform.table.rows["t2"]; later == former || later == nil || r.Sandbox != later.ref.ID {
			t.Errorf("the row names %s, its sandbox is %+v", r.Sandbox, later)
		}
	})
}

// A sandbox that its owner relabelled is not ours, and one that was given to us is.
func TestOwners(t *testing.T) {
	onPlatform(t, "provider lab link=label\ntask t1 running\nplatform foreign 1\n", func(t *testing.T, platform *Platform) {
		k := platform.tasks["t1"]
		ref := k.box.ref
		does(t, platform, "sandbox t1 disown")
		if now := platform.boxes[ref]; now.owner != foreign || now.task != nil || k.box.there() || platform.truth().work(k) != "" {
			t.Errorf("%s is %s, its former task does: %q", ref, now.owner, platform.truth().work(k))
		}
		does(t, platform, "task t2 new pick=1s row=1m")
		goOn(platform, 10*time.Second)
		does(t, platform, "sandbox foreign adopt t2")
		if b := platform.tasks["t2"].box; b == nil || b.owner != ours || b.ref == ref || !platform.watch.linked(platform.tasks["t2"], b) {
			t.Errorf("t2 has %+v", b)
		}
	})
}

// Where a name is the proof that a sandbox is ours, labels change nothing; where rows are, what no
// row names is nobody's.
func TestProofs(t *testing.T) {
	onPlatform(t, "provider lab link=id owns=prefix\nprovider annex link=id owns=rows\ntask t1 running provider=lab\n"+
		"platform leak 1 provider=annex\n", func(t *testing.T, platform *Platform) {
		does(t, platform, "sandbox t1 disown")
		if b := platform.tasks["t1"].box; b.owner != ours || !b.there() || !b.cloud.entry.Owns.Prove(b.name, nil) {
			t.Errorf("%s is %s", b.name, b.owner)
		}
		if b := platform.fleet().boxOf("foreign"); b == nil || b.cloud.name != "annex" {
			t.Errorf("what no row names is %+v", b)
		}
	})
}

// A standby that lags shows the rows as they were a while ago, and takes no write.
func TestReplica(t *testing.T) {
	onPlatform(t, "task t1 running\n", func(t *testing.T, platform *Platform) {
		state := func() reconcile.TaskState {
			rows, err := platform.Tasks().ByID(t.Context(), []string{"t1"})
			if err != nil {
				t.Fatal(err)
			}
			return rows.Tasks[0].State
		}
		does(t, platform, "platform standby lag=30s for 5m")
		does(t, platform, "user t1 stop")
		goOn(platform, 20*time.Second)
		if clock, err := platform.Tasks().Clock(t.Context()); state() != reconcile.TaskRunning || !clock.Standby || err != nil {
			t.Errorf("20s later it shows %s, %+v, %v", state(), clock, err)
		}
		goOn(platform, 20*time.Second)
		if state() != reconcile.TaskStopped {
			t.Errorf("40s later it shows %s", state())
		}
	})
}
