package platforms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A receiver is a platform's API that fails a job, each in its own way.
type receiver struct {
	w    *world
	ways map[string]way // by job

	mu   sync.Mutex
	keys map[string][]string // of each job's requests
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, []byte("call-key-of-the-lab"))
	mac.Write([]byte(r.Header.Get("X-Sandkeeper-Timestamp")))
	mac.Write(body)
	if r.Header.Get("X-Sandkeeper-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		c.w.Errorf("%s is not signed: %v", r.URL, r.Header)
	}
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/jobs/"), "/fail")
	c.mu.Lock()
	c.keys[id] = append(c.keys[id], r.Header.Get("Idempotency-Key"))
	n := len(c.keys[id])
	c.mu.Unlock()
	c.ways[id](n, w, r, func() {
		c.w.sql("UPDATE jobs SET status = 'failed', note = 'ended by the platform', written = now() WHERE id = $1", id)
	})
}

// A way is how a platform's API takes the n-th request for a job; do ends the job.
type way func(n int, w http.ResponseWriter, r *http.Request, do func())

func answers(status int) way {
	return func(_ int, w http.ResponseWriter, _ *http.Request, _ func()) { w.WriteHeader(status) }
}

// silent never answers.
func silent(_ int, _ http.ResponseWriter, r *http.Request, _ func()) { <-r.Context().Done() }

// broken ends the connection.
func broken(_ int, _ http.ResponseWriter, _ *http.Request, _ func()) { panic(http.ErrAbortHandler) }

// does ends the job with each request, and then goes on in its way.
func does(then way) way {
	return func(n int, w http.ResponseWriter, r *http.Request, do func()) {
		do()
		then(n, w, r, do)
	}
}

// after is a way for the first request, and another one from then on.
func after(first, then way) way {
	return func(n int, w http.ResponseWriter, r *http.Request, do func()) {
		if n == 1 {
			first(n, w, r, do)
			return
		}
		then(n, w, r, do)
	}
}

// TestFailedByThePlatform: a task is failed through the platform's own API, asked again with the same key until its row
// shows the end. The answer proves nothing: neither that it was done, nor that it was not.
func TestFailedByThePlatform(t *testing.T) {
	c := &receiver{keys: map[string][]string{}, ways: map[string]way{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	tasks := strings.Replace(labTasks, "heartbeat_at: beat", `heartbeat_at: beat, fails_at: "(began + interval '2 hours')"`, 1)
	p := labOf(t, tasks+`  fail: {call: {url: "`+server.URL+`/jobs/{id}/fail", secret: call-key-of-the-lab, timeout: 500ms}}
`+labEngine, engine)
	done := does(answers(http.StatusOK))
	p.play(t, stories{"an API that fails in every way": func(w *world) {
		c.w = w
		labCompany(w)
		for name, job := range map[string]struct {
			way   way
			asked int // at least
			over  bool
		}{
			"at-once":              {done, 1, true},
			"two-answers":          {after(answers(http.StatusAccepted), done), 2, true},
			"broken-first":         {after(answers(http.StatusInternalServerError), done), 2, true},
			"silent-first":         {after(silent, done), 2, true},
			"down-first":           {after(broken, done), 2, true},
			"did-it-in-silence":    {does(silent), 1, true},
			"did-it-and-broke":     {does(answers(http.StatusInternalServerError)), 1, true},
			"refuses":              {answers(http.StatusConflict), 2, false},
			"says-so-and-does-not": {answers(http.StatusOK), 2, false},
		} {
			t, box := labJob(w, name, row{"began": 3 * time.Hour})
			w.always(func() { w.sql("UPDATE jobs SET beat = now() - interval '2 seconds' WHERE id = $1", t.id) })
			c.ways[t.id] = job.way
			w.told("deadline-exceeded", t.id)
			if job.over {
				w.becomes(name, t, "status || ' ' || note", "^failed ended by the platform$")
				w.ends(name, box)
			} else {
				w.becomes(name, t, "status || coalesce(note, '')", "^running$")
				w.stays(name, box)
			}
			w.finally(func(w *world) { c.sameKey(w, t.id, job.asked) })
		}
	}})
}

// sameKey demands that a job's requests were at least so many, all with one key that no other job has.
func (c *receiver) sameKey(w *world, id string, atLeast int) {
	w.Helper()
	keys := c.keys[id]
	if len(keys) < atLeast || keys[0] == "" || len(slices.Compact(slices.Clone(keys))) != 1 {
		w.Errorf("the platform was asked to end %s with the keys %q, want the same one %d times or more: %s", id, keys, atLeast,
			w.why(id))
	}
	for other, theirs := range c.keys {
		if other != id && len(keys) > 0 && theirs[0] == keys[0] {
			w.Errorf("%s and %s were asked for with one key", id, other)
		}
	}
}
