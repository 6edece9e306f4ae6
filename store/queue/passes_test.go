package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// quickly is the interval of the tests' quick passes.
const quickly = 400 * time.Millisecond

const periodic = `SELECT count(*) FROM sandkeeper.river_job
	WHERE args ->> 'kind' = $1 AND metadata ->> 'periodic' = 'true'`

func TestPassesComeOnBothSchedules(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.Queue = l.queue(each(quickly), each(2*quickly))
	l.run()
	for _, kind := range []string{"quick", "full"} {
		l.until("two periodic jobs of a kind", func() bool { return l.count(periodic, kind) >= 2 })
		l.until("two passes of a kind", func() bool {
			return l.count("SELECT count(*) FROM public.passes WHERE kind = $1", kind) >= 2
		})
	}
	wrong := l.count("SELECT count(*) FROM sandkeeper.river_job WHERE scheduled_at <> created_at AND kind = 'pass'")
	if wrong > 0 {
		t.Errorf("%d pass jobs begin at another time than they were added, so not by the database's clock", wrong)
	}
}

func TestFirstPassDoesNotWaitForItsTurn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run()
	l.until("a full pass, which is a quick one too", func() bool {
		return l.count("SELECT count(*) FROM public.passes WHERE kind = 'full'") == 1
	})
}

func TestPassesGoOnWhenTheLeaderIsKilled(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+l.dsn)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	l.must(cmd.Start())
	leads := func() bool {
		return l.count("SELECT count(*) FROM sandkeeper.river_leader WHERE leader_id = 'child'") == 1
	}
	l.until("the child leads and River starts its passes", func() bool {
		return leads() && l.count(periodic, "quick") >= 2
	})
	l.Queue = l.queue(each(quickly), never)
	l.run()
	l.until("a pass in this process too", func() bool {
		return l.count("SELECT count(*) FROM public.passes WHERE who = 'this'") > 0
	})
	l.must(cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended in order")
	}
	// For as long as the rest takes nobody is elected in its place.
	l.exec("UPDATE sandkeeper.river_leader SET expires_at = now() + interval '1 hour' WHERE leader_id = 'child'")
	before := l.count("SELECT count(*) FROM public.passes")
	l.until("four more passes", func() bool { return l.count("SELECT count(*) FROM public.passes") >= before+4 })
	if !leads() {
		t.Error("there is a new leader already: this says nothing about the time without one")
	}
}

func TestPassWaitsForTheLeaseInItsJob(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	var asked atomic.Int32
	l.duty.pass = func(context.Context, reconcile.PassKind) (time.Duration, error) {
		if asked.Add(1) < 5 {
			return 20 * time.Millisecond, nil
		}
		return 0, nil
	}
	l.run()
	l.must(l.KickPass(t.Context(), reconcile.Quick))
	l.until("the pass is done", func() bool { return l.jobs("pass", "completed") == 1 })
	attempts := l.count("SELECT attempt FROM sandkeeper.river_job WHERE kind = 'pass'")
	snoozed := l.count("SELECT count(*) FROM sandkeeper.river_job WHERE metadata ? 'snoozes'")
	if asked.Load() != 5 || attempts != 1 || snoozed != 0 {
		t.Errorf("asked %d times in %d attempts, %d snoozed, want 5 in 1 and none", asked.Load(), attempts, snoozed)
	}
}

func TestPassThatWaitsTooLongMakesWayForAnother(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.patience = 0
	var asked atomic.Int32
	l.duty.pass = func(context.Context, reconcile.PassKind) (time.Duration, error) {
		if asked.Add(1) < 3 {
			return time.Millisecond, nil
		}
		return 0, nil
	}
	l.run()
	l.must(l.KickPass(t.Context(), reconcile.Quick))
	l.until("three jobs, each asked once", func() bool { return l.jobs("pass", "completed") == 3 })
}

func TestBacklogCollapses(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	kinds := make(chan reconcile.PassKind, 100)
	l.duty.pass = func(_ context.Context, kind reconcile.PassKind) (time.Duration, error) {
		kinds <- kind
		return 0, nil
	}
	const add = `INSERT INTO sandkeeper.river_job (kind, queue, args, max_attempts, created_at, scheduled_at)
		SELECT 'pass', 'passes', jsonb_build_object('kind', $1::text), 1, at, at
		FROM generate_series(now() - interval '2 hours', now() - interval '1 hour', interval '1 minute') at`
	l.exec(add, "quick")
	l.exec(add, "full")
	l.run()
	l.until("no job waits", func() bool { return l.jobs("pass", "available")+l.jobs("pass", "running") == 0 })
	close(kinds)
	done := map[reconcile.PassKind]int{}
	for kind := range kinds {
		done[kind]++
	}
	// A quick one comes first, or none: the full one covers it.
	if done[reconcile.Full] != 1 || done[reconcile.Quick] > 1 {
		t.Errorf("122 jobs came to %v, want one pass of each kind at most", done)
	}
}

func TestPassIsCutShortAndItsJobStays(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]error{"and says so": context.Canceled, "and says nothing": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).quietly()
			began, why := make(chan struct{}), make(chan error, 1)
			l.duty.pass = func(ctx context.Context, _ reconcile.PassKind) (time.Duration, error) {
				close(began)
				<-ctx.Done()
				why <- context.Cause(ctx)
				return 0, end
			}
			stop := l.run()
			l.must(l.KickPass(t.Context(), reconcile.Quick))
			receive(l, began)
			l.must(stop())
			if err := receive(l, why); !errors.Is(err, context.Canceled) { // River says another at the end of the grace
				t.Errorf("the pass was told to stop by %v, want it at once", err)
			}
			if n := l.jobs("pass", "available"); n != 1 {
				t.Errorf("%d jobs are left to others, want 1", n)
			}
		})
	}
}

func TestPassThatFailsIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.duty.pass = func(context.Context, reconcile.PassKind) (time.Duration, error) {
		return 0, errors.New("no such luck")
	}
	l.run()
	l.must(l.KickPass(t.Context(), reconcile.Full))
	l.until("the job is given up", func() bool { return l.jobs("pass", "discarded") == 1 })
	l.logged("no such luck")
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.run()
	l.until("it runs", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.client != nil
	})
	l.Reschedule(each(quickly), each(2*quickly))
	for _, kind := range []string{"quick", "full"} {
		l.until("periodic jobs of each kind", func() bool { return l.count(periodic, kind) >= 2 })
	}
}

func TestOverduePassIsCalledOff(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ago  string // when the last full pass began, on a schedule of an hour
		want int
	}{
		"by one that began in time": {"50 minutes", 0},
		"by none":                   {"60 minutes", 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.Queue = l.queue(never, each(time.Hour))
			l.exec("INSERT INTO public.passes (kind, began) VALUES ('full', now() - $1::interval)", c.ago)
			l.must(l.kickOverdue(t.Context(), reconcile.Full))
			l.must(l.kickOverdue(t.Context(), reconcile.Full))
			l.run()
			l.until("the job is done", func() bool { return l.jobs("pass", "completed") > 0 })
			if n := l.count("SELECT count(*) FROM public.passes WHERE who = 'this'"); n != c.want {
				t.Errorf("%d passes, want %d", n, c.want)
			}
		})
	}
}

func TestPassThatIsAskedForIsNeverCalledOff(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.must(l.kickOverdue(t.Context(), reconcile.Quick))
	l.must(l.KickPass(t.Context(), reconcile.Quick))
	l.run()
	l.until("both jobs are gone", func() bool { return l.jobs("pass", "available")+l.jobs("pass", "running") == 0 })
	if n := l.count("SELECT count(*) FROM public.passes WHERE kind = 'quick'"); n != 1 {
		t.Errorf("%d quick passes, want the one that was asked for", n)
	}
}

// Pushes come to few passes, which look at all that they name; one of the schedule takes none of them away.
func TestPushesComeToFewPasses(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.pushed = 300 * time.Millisecond
	looked, entered, leave := make(chan []reconcile.Ref, 1000), make(chan struct{}), make(chan struct{})
	l.duty.pushed = func(ctx context.Context, refs []reconcile.Ref) (time.Duration, error) {
		looked <- refs
		return 0, l.duty.write(ctx, reconcile.Quick)
	}
	l.duty.pass = func(context.Context, reconcile.PassKind) (time.Duration, error) {
		entered <- struct{}{}
		<-leave
		return 0, nil // it was not due
	}
	l.run()
	l.must(l.KickPass(t.Context(), reconcile.Full))
	receive(l, entered) // the one place for passes is taken
	l.until("somebody leads", func() bool {
		return l.count("SELECT count(*) FROM sandkeeper.river_leader WHERE expires_at > now()") == 1
	})
	for i := range 20 {
		worked, err := AskPushed(t.Context(), l.pool, reconcile.Ref{Provider: "daytona", ID: fmt.Sprintf("sb-%d", i/2)})
		if !worked || err != nil {
			t.Fatalf("AskPushed = %v, %v, want true", worked, err)
		}
	}
	if n := l.jobs("pass", "available"); n != 10 {
		t.Errorf("%d jobs wait for 10 sandboxes that were pushed twice", n)
	}
	l.exec("UPDATE sandkeeper.river_job SET priority = 2 WHERE args -> 'pushed' IS NOT NULL")
	l.must(l.KickPass(t.Context(), reconcile.Full)) // comes before them, and covers none
	leave <- struct{}{}
	receive(l, entered)
	leave <- struct{}{}
	l.until("no job waits", func() bool { return l.jobs("pass", "available")+l.jobs("pass", "running") == 0 })
	close(looked)
	passes, all := 0, map[reconcile.Ref]bool{}
	for refs := range looked {
		passes++
		for _, ref := range refs {
			all[ref] = true
		}
	}
	if passes != 1 || len(all) != 10 {
		t.Errorf("%d passes looked at %d sandboxes, want one that looks at 10", passes, len(all))
	}
}

// A pass for a push waits until the last one began long enough ago.
func TestPushesAreSpaced(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.pushed = time.Hour
	began := make(chan struct{}, 10)
	l.duty.pushed = func(context.Context, []reconcile.Ref) (time.Duration, error) {
		began <- struct{}{}
		return 0, nil
	}
	stop := l.run()
	l.must(l.kickPass(t.Context(), passArgs{Pass: reconcile.Quick, Pushed: []reconcile.Ref{{Provider: "daytona", ID: "sb-1"}}}))
	l.until("the job waits for its time", func() bool { return l.jobs("pass", "running") == 1 })
	l.must(stop())
	if len(began) > 0 || l.jobs("pass", "available") != 1 {
		t.Errorf("%d passes began at once after another one, %d jobs are left for the next process", len(began),
			l.jobs("pass", "available"))
	}
}

// A pass for pushes that a stop cuts short leaves one job to the next process, which names all that it was to look at.
func TestPushesOutliveAStop(t *testing.T) {
	t.Parallel()
	l := newLab(t).quietly()
	l.pace.pushed = 0
	entered := make(chan []reconcile.Ref, 10)
	l.duty.pushed = func(ctx context.Context, refs []reconcile.Ref) (time.Duration, error) {
		entered <- refs
		<-ctx.Done()
		return 0, ctx.Err()
	}
	want := []reconcile.Ref{{Provider: "daytona", ID: "sb-1"}, {Provider: "daytona", ID: "sb-2"}}
	for _, ref := range want {
		l.must(l.kickPass(t.Context(), passArgs{Pass: reconcile.Quick, Pushed: []reconcile.Ref{ref}}))
	}
	stop := l.run()
	if refs := receive(l, entered); !slices.Equal(refs, want) {
		t.Errorf("the pass looks at %v, want %v", refs, want)
	}
	l.must(stop())
	if n := l.count(`SELECT count(*) FROM sandkeeper.river_job WHERE state = 'available'
		AND jsonb_array_length(args -> 'pushed') = 2`); n != 1 || l.jobs("pass", "available") != 1 {
		t.Errorf("%d jobs that name both are left, want 1 and no other; the log: %s", n, l.log)
	}
}

// A job has one attempt, and a stop does not use it up: neither for a pass that waits, nor while the ledger is asked.
func TestStopLeavesThePass(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]passArgs{
		"pushed":  {Pass: reconcile.Quick, Pushed: []reconcile.Ref{{Provider: "daytona", ID: "sb-1"}}},
		"overdue": {Pass: reconcile.Quick, Overdue: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t).quietly()
			l.duty.stuck = make(chan struct{}, 99) // two watches ask too, and again where a machine is slow
			l.must(l.kickPass(t.Context(), args))
			stop := l.run()
			l.until("the job runs", func() bool { return l.jobs("pass", "running") == 1 })
			l.until("the ledger is asked", func() bool { return len(l.duty.stuck) >= 3 })
			l.must(stop())
			if n := l.jobs("pass", "available"); n != 1 {
				t.Errorf("%d jobs are left for the next process, want 1; the log: %s", n, l.log)
			}
		})
	}
}
