package cloudflare_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var withWorker = flag.Bool("worker", false, "talk to the example Worker in the real Workers runtime; needs Node.js")

const workerFolder = "../../deploy/cloudflare-worker"

// A workerd is the example Worker in the real Workers runtime, over the vendor's own SDK, with
// a stand-in for the engine that would run its containers.
type workerd struct {
	t                               *testing.T
	Worker, Token, Control, Account string
}

func startWorkerd(t *testing.T) *workerd {
	t.Helper()
	if _, err := os.Stat(workerFolder + "/node_modules/miniflare"); err != nil {
		t.Fatal("the Worker's packages are not there: make test-worker installs them")
	}
	cmd := exec.CommandContext(t.Context(), "node", "test/serve.mjs")
	cmd.Dir, cmd.Stderr = workerFolder, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start node: %v; install nodejs 20 or newer", err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait() // it was told to end
	})
	w := &workerd{t: t}
	if err := json.NewDecoder(stdout).Decode(w); err != nil {
		t.Fatalf("the Worker did not start: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return w
}

// order tells the world to do something, and returns what it says.
func (w *workerd) order(what string, order map[string]any) (said any) {
	w.t.Helper()
	body, err := json.Marshal(order)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := http.Post(w.Control+"/"+what, "application/json", bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&said); err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("order %s: %d %v, %v", what, res.StatusCode, said, err)
	}
	return said
}

// make starts a sandbox and returns the id of its object.
func (w *workerd) make(id string) (actor string) {
	w.t.Helper()
	row, _ := w.order("make", map[string]any{"id": id, "task_id": "t-" + id,
		"labels": map[string]string{"project": "mine"}}).(map[string]any)
	actor, _ = row["actor_id"].(string)
	return actor
}

func (w *workerd) started() int {
	w.t.Helper()
	all, _ := w.order("started", nil).([]any)
	return len(all)
}

func (w *workerd) open(h half) *cloudflare.Provider {
	w.t.Helper()
	e := configure(cloudflare.Abilities, h, "")
	if h.control {
		e.URL, e.Token = w.Account, "control-key"
		e.Extra["account"], e.Extra["application"] = "acct", "app"
	}
	if h.worker {
		e.Extra["worker_url"], e.Extra["worker_token"] = w.Worker, w.Token
	}
	p, err := cloudflare.New(e, entry.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// TestWorker: what the adapter makes of the real Worker, with the control plane beside it and
// without.
func TestWorker(t *testing.T) {
	if !*withWorker {
		t.Skip("it needs packages and nobody asked for it: make test-worker")
	}
	for name, h := range map[string]half{"both halves": {true, true}, "the Worker alone": {worker: true}} {
		t.Run(name, func(t *testing.T) {
			w := startWorkerd(t)
			w.talk(w.open(h))
		})
	}
}

func (w *workerd) talk(p *cloudflare.Provider) {
	t := w.t
	policy := reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: 2 * time.Second}
	get := func(id string) reconcile.Sandbox {
		t.Helper()
		s, err := p.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	probe := func(id string, want reconcile.ProbeOutcome) {
		t.Helper()
		if got := p.Probe(t.Context(), get(id), policy); got.Outcome != want {
			t.Errorf("Probe(%s) = %+v, want %s", id, got, want)
		}
	}
	gone := func(id string) {
		t.Helper()
		how, err := p.Terminate(t.Context(), get(id))
		if err != nil || how != reconcile.TerminateAccepted {
			t.Errorf("Terminate(%s) = %s, %v; want accepted", id, how, err)
		}
		if s, err := p.Get(t.Context(), id); !errors.Is(err, reconcile.ErrNotFound) && s.State != reconcile.SandboxEnded {
			t.Errorf("Get(%s) after Terminate = %+v, %v; want it gone", id, s, err)
		}
	}

	w.make("well")
	sick := w.make("sick")
	w.order("trouble", map[string]any{"actor": sick, "kind": "break"})
	hung := w.make("hung")
	w.order("trouble", map[string]any{"actor": hung, "kind": "hang"})
	all := w.list(p, "hung", "sick", "well")
	for _, s := range all {
		if s.State != reconcile.SandboxRunning || s.NoContainer || !s.Owned || s.Task != "t-"+s.ID || s.CreatedAt.IsZero() {
			t.Errorf("listed %+v, want it running, ours and linked", s)
		}
	}
	probe("well", reconcile.Answered)
	probe("sick", reconcile.CannotStart)
	probe("hung", reconcile.Hung)
	if used, err := p.Usage(t.Context(), get("well")); err != nil || used.MemoryUsed <= 0 {
		t.Errorf("Usage = %+v, %v; want it measured", used, err)
	}
	if _, err := p.Logs(t.Context(), get("well"), 100); err != nil {
		t.Errorf("Logs = %v, want none lost", err)
	}
	for _, line := range p.Check(t.Context()) {
		if !line.OK {
			t.Errorf("Check = %+v, want all well", line)
		}
	}
	gone("sick")

	// The runtime goes down, the containers are lost, the records stay.
	w.order("lose", nil)
	before := w.started()
	for _, s := range w.list(p, "hung", "well") {
		if !s.NoContainer || s.State != reconcile.SandboxRunning {
			t.Errorf("listed %+v, want a record without a container", s)
		}
	}
	probe("well", reconcile.NotAllowed)
	gone("well")
	gone("hung")
	if n := w.started() - before; n != 0 {
		t.Errorf("looking, probing and ending started %d containers, want none", n)
	}
	if _, err := p.Get(t.Context(), "never"); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get of no sandbox = %v, want ErrNotFound", err)
	}
}

// list is a complete listing of the sandboxes with these ids, in the order of their ids.
func (w *workerd) list(p *cloudflare.Provider, ids ...string) []reconcile.Sandbox {
	w.t.Helper()
	var all []reconcile.Sandbox
	listing, err := p.List(w.t.Context(), func(page []reconcile.Sandbox) error { all = append(all, page...); return nil })
	slices.SortFunc(all, func(a, b reconcile.Sandbox) int { return strings.Compare(a.ID, b.ID) })
	var got []string
	for _, s := range all {
		got = append(got, s.ID)
	}
	if err != nil || !listing.Complete || !slices.Equal(got, ids) {
		w.t.Fatalf("List = %v, %+v, %v; want %v, complete", got, listing, err, ids)
	}
	return all
}
