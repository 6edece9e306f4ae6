package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
)

// hooked is an arena whose config tells the receiver.
func hooked(t *testing.T, r *webhooktest.Receiver, more string) *arena {
	t.Helper()
	return newArena(t, settings{more: more,
		tasks: `, webhook: {url: "` + r.URL + `/hooks/tok-in-path", secret: "` + webhooktest.Key + `"}`})
}

// lost puts a task with a sandbox into the arena that is due to be failed.
func (a *arena) lost() (task, sandbox string) {
	a.Helper()
	task = a.task(row{status: "assigned", key: "omoios-lost", created: time.Hour, updated: 4 * time.Minute})
	return task, a.box(task, time.Hour).ID
}

// noticesDue lets the pause before the next attempt be over, and nothing else.
func (a *arena) noticesDue() {
	a.Helper()
	a.sql("UPDATE sandkeeper.notices SET next_at = now() WHERE closed_at IS NULL")
}

// stepsTold are what was told, as "step outcome of task", each once, with their words.
func stepsTold(r *webhooktest.Receiver) (out []string, bodies map[string]string) {
	r.Helper()
	bodies = map[string]string{}
	for _, h := range r.Told() {
		if !h.Verify(webhooktest.Key) {
			r.Errorf("notice %s is not signed with the key", h.Delivery)
		}
		if before, repeated := bodies[h.Delivery]; repeated {
			if before != h.Body {
				r.Errorf("a repeated notice says another thing:\n%s\n%s", before, h.Body)
			}
			continue
		}
		bodies[h.Delivery] = h.Body
		var n struct{ Action, Task, Step, Outcome string }
		if err := json.Unmarshal([]byte(h.Body), &n); err != nil || n.Action != h.Delivery {
			r.Errorf("notice %s: %v: %s", h.Delivery, err, h.Body)
		}
		out = append(out, n.Step+" "+n.Outcome+" of "+n.Task)
	}
	slices.Sort(out) // they are told side by side
	return out, bodies
}

// TestWebhookIsRetried: the platform is down, and hears of it in the next run: the fail and
// the end of the sandbox, each once more, with the same ids.
func TestWebhookIsRetried(t *testing.T) {
	r := webhooktest.NewReceiver(t)
	a := hooked(t, r, "")
	ws := a.working(3)
	task, sandbox := a.lost()
	r.Answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, webhooktest.Key, http.StatusBadGateway) })
	code, out, errs := a.run("once", "--migrate", "--wait", patience)
	if code != 0 || !a.ended(sandbox) {
		t.Fatalf("once: exit code %d: a platform that is down stops nothing\n%s%s", code, out, errs)
	}
	if !strings.Contains(errs, "answered 502") {
		t.Errorf("the log does not say that the platform was not told:\n%s", errs)
	}
	for _, secret := range []string{webhooktest.Key, "tok-in-path"} {
		if strings.Contains(out+errs, secret) {
			t.Errorf("%q is shown:\n%s%s", secret, out, errs)
		}
	}
	tried := len(r.Told())
	if tried == 0 {
		t.Fatal("nothing was tried")
	}
	r.Answer(nil)
	a.noticesDue()
	a.once(0)
	steps, bodies := stepsTold(r)
	want := "fail done of " + task + ", terminate confirmed of " + task
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	told := len(r.Told())
	if told <= tried || len(bodies) != 2 {
		t.Errorf("%d notices in %d attempts, %d of them in vain", len(bodies), told, tried)
	}
	a.noticesDue()
	a.once(0)
	if n := len(r.Told()); n != told {
		t.Errorf("what was told is told again: %d attempts, then %d", told, n)
	}
	a.keeps(ws)
}

// TestWebhookAfterACrash: the platform had heard it and we never knew. It is told again, with
// the same id and the same words.
func TestWebhookAfterACrash(t *testing.T) {
	r := webhooktest.NewReceiver(t)
	a := hooked(t, r, "")
	ws := a.working(3)
	task, _ := a.lost()
	a.must("migrate")
	r.Answer(func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() })
	c := a.spawn("once", "--wait", patience)
	a.reaches("the platform has heard it", func() bool { return len(r.Told()) > 0 })
	first := r.Told()[0]
	c.kill()
	r.Answer(nil)
	a.noticesDue()
	a.once(0)
	again := 0
	for _, h := range r.Told() {
		if h.Delivery == first.Delivery && h.Body == first.Body {
			again++
		}
	}
	if again != 2 {
		t.Errorf("the notice was told %d times, want twice: %+v", again, r.Told())
	}
	if steps, _ := stepsTold(r); len(steps) == 0 || steps[0] != "fail done of "+task {
		t.Errorf("told %q, want the fail first", steps)
	}
	a.keeps(ws)
}

// TestWebhookOfTheDaemon: run tells as soon as it is done.
func TestWebhookOfTheDaemon(t *testing.T) {
	r := webhooktest.NewReceiver(t)
	a := hooked(t, r, quickly)
	ws := a.working(3)
	a.beat(ws)
	task, _ := a.lost()
	d := a.daemon("run", "--migrate")
	a.reaches("both are told", func() bool { _, bodies := stepsTold(r); return len(bodies) == 2 })
	d.stop()
	steps, _ := stepsTold(r)
	if got, want := strings.Join(steps, ", "), "fail done of "+task+", terminate confirmed of "+task; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	a.keeps(ws)
}
