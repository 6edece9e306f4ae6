package cloudflare_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare"
	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A rig is an adapter over a world in which both halves may be at odds.
type rig struct {
	*testing.T
	*cloudflare.Provider
	world  *simulated.World
	server *cloudflaretest.Server
}

func newRig(t *testing.T, h half, o cloudflaretest.Options, change ...func(*entry.Entry)) *rig {
	t.Helper()
	so := simulated.Options{}
	if !h.worker {
		so.IDs = cloudflaretest.ObjectIDs
	}
	r := &rig{T: t, world: simulated.New(so)}
	o.Key, o.WorkerToken = "secret-key", workerToken
	r.server = cloudflaretest.New(r.world, o)
	server := httptest.NewServer(r.server)
	t.Cleanup(server.Close)
	e := configure(cloudflare.Abilities, h, server.URL)
	for _, c := range change {
		c(&e)
	}
	p, err := cloudflare.New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Provider = p
	return r
}

func (r *rig) put(s simulated.Sandbox) string {
	if s.Labels == nil {
		s.Labels = map[string]string{"project": "mine", "task_id": "t1"}
	}
	return r.world.Put(s).ID
}

func (r *rig) get(id string) reconcile.Sandbox {
	r.Helper()
	s, err := r.Get(r.Context(), id)
	if err != nil {
		r.Fatalf("Get(%s) = %v, want a sandbox", id, err)
	}
	return s
}

// list is the listing by id.
func (r *rig) list() (map[string]reconcile.Sandbox, reconcile.Listing) {
	r.Helper()
	all := map[string]reconcile.Sandbox{}
	listing, err := r.List(r.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			all[s.ID] = s
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return all, listing
}

var joined = half{true, true}

// hollow fails the test unless list and get agree on whether the sandbox is hollow.
func (r *rig) hollow(id string, want bool, why string) {
	r.Helper()
	all, _ := r.list()
	if listed, got := all[id], r.get(id); listed.NoContainer != want || got.NoContainer != want || listed.ID == "" {
		r.Errorf("%s: listed hollow %t, got hollow %t; want %t", why, listed.NoContainer, got.NoContainer, want)
	}
}

// A record and its container find each other by the object's id, or by the name.
func TestJoin(t *testing.T) {
	for name, terse := range map[string]bool{"by the object's id": false, "by name": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, joined, cloudflaretest.Options{Terse: terse}, func(e *entry.Entry) {
				e.Owns.Labels, e.Owns.NamePrefix = nil, "sb-"
			})
			well := r.put(simulated.Sandbox{ID: "sb-well"})
			corrupt := r.put(simulated.Sandbox{ID: "sb-corrupt", NoContainer: true})
			r.hollow(well, false, "a record with its container")
			r.hollow(corrupt, !terse, "a record without a container, where records tell of containers")
			if all, listing := r.list(); len(all) != 2 || !listing.Complete {
				t.Errorf("List = %v, %+v; want each sandbox once", all, listing)
			}
		})
	}
}

// A Worker that never tells of containers convicts nobody by the control plane's silence: the
// container may be another application's, or have slept for long. One that sleeps is no fault.
func TestSilentWorkerConvictsNobody(t *testing.T) {
	r := newRig(t, joined, cloudflaretest.Options{Terse: true})
	absent := r.put(simulated.Sandbox{NoContainer: true})
	r.hollow(absent, false, "the control plane does not show it")
	asleep := r.put(simulated.Sandbox{State: reconcile.SandboxSuspended})
	r.hollow(asleep, false, "the control plane shows it stopped")
	if got := r.get(asleep); got.State != reconcile.SandboxSuspended {
		t.Errorf("Get of one that sleeps = %+v, want it suspended: a probe would wake it", got)
	}
}

// A container that no record explains has a name and nothing else: neither labels nor a task.
func TestContainerWithoutRecord(t *testing.T) {
	r := newRig(t, joined, cloudflaretest.Options{})
	id := r.put(simulated.Sandbox{})
	r.server.Forget(id)
	all, listing := r.list()
	if got := all[id]; !listing.Complete || got.State != reconcile.SandboxRunning || got.Owned || got.Task != "" || got.NoContainer {
		t.Errorf("List = %+v, %+v; want a running container that nothing proves to be ours", all, listing)
	}
	if got := r.get(id); got.Owned || got.Task != "" {
		t.Errorf("Get = %+v, want the same", got)
	}
	how, err := r.Terminate(t.Context(), r.get(id))
	if how != reconcile.TerminateRefused || !errors.Is(err, errors.ErrUnsupported) || len(r.world.Destructive()) != 0 {
		t.Errorf("Terminate = %s, %v after %v; want it refused: nobody can", how, err, r.world.Destructive())
	}
}

// A half that is added to an entry, or taken from it, gives sandboxes other ids. Rows may name
// them by the former ones. A look by one says that it is gone once the present one was listed,
// and nothing before; nothing is ended by it.
func TestIDsOfOtherHalves(t *testing.T) {
	control, worker := half{control: true}, half{worker: true}
	for name, test := range map[string]struct {
		before, now half
		terse       bool
		link        string
		keys        func(record, object string) []string // by which rows may name it
	}{
		"a Worker is given":               {control, joined, false, "id", bothIDs},
		"a Worker that tells little":      {control, joined, true, "id", bothIDs},
		"a Worker in the place of it":     {control, worker, false, "id", bothIDs},
		"the Worker is taken":             {joined, control, false, "id", bothIDs},
		"the control plane in its place":  {worker, control, false, "id", bothIDs},
		"a Worker is given, by name":      {control, joined, false, "name", bothIDs},
		"the Worker is taken, by name":    {joined, control, false, "name", bothIDs},
		"the Worker is taken, by a label": {joined, control, false, "label:row", func(_, object string) []string { return []string{"", object} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, joined, cloudflaretest.Options{Terse: test.terse, InstanceAPI: true})
			server := httptest.NewServer(r.server)
			t.Cleanup(server.Close)
			open := func(h half) *cloudflare.Provider {
				e := configure(cloudflare.Abilities, h, server.URL)
				e.Link, e.Owns, e.Extra["instance_api"] = entry.Link{Sandbox: test.link}, entry.Owns{NamePrefix: "mine-"}, "true"
				p, err := cloudflare.New(e, entry.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			id := r.put(simulated.Sandbox{ID: "mine-1"})
			r.Provider = open(test.before)
			all, _ := r.list()
			var former, present reconcile.Sandbox
			for _, former = range all {
			}
			r.Provider = open(test.now)
			if s, err := r.Get(t.Context(), former.ID); err == nil || errors.Is(err, reconcile.ErrNotFound) {
				t.Errorf("Get(%s) = %+v, %v before any listing; want an error that says neither", former.ID, s, err)
			}
			all, _ = r.list()
			for _, present = range all {
			}
			keys := []string{present.SandboxKey, present.AltKey}
			if want := test.keys(id, cloudflaretest.Object(id)); len(all) != 1 || present.ID == former.ID ||
				!slices.Contains(keys, want[0]) || !slices.Contains(keys, want[1]) {
				t.Errorf("listed as %+v, want it once, by another id than %s, and known to rows by %q", all, former.ID, want)
			}
			if !present.StableName {
				t.Error("its name does not last, want that where nothing else tells its task")
			}
			if s, err := r.Get(t.Context(), former.ID); !errors.Is(err, reconcile.ErrNotFound) || !strings.Contains(err.Error(), present.ID) {
				t.Errorf("Get(%s) = %+v, %v after it was listed; want it gone, and by which id it goes", former.ID, s, err)
			}
			for _, value := range keys {
				found, err := r.Named(t.Context(), value)
				if test.link == "name" && (err != nil || len(found) != 1 || found[0].ID != present.ID) {
					t.Errorf("Named(%s) = %+v, %v; want %s", value, found, err, present.ID)
				}
			}
			if got := r.Probe(t.Context(), former, reconcile.ProbePolicy{Exec: "true", Timeout: time.Minute}); got.Outcome.Failed() {
				t.Errorf("Probe by the former id = %+v, want that it says nothing", got)
			}
			how, err := r.Terminate(t.Context(), former)
			if how != reconcile.TerminateChanged || err != nil || len(r.world.Destructive()) != 0 {
				t.Errorf("Terminate by the former id = %s, %v after %v; want it changed", how, err, r.world.Destructive())
			}
		})
	}
}

// A name goes on with the work of the sandbox that had it, where no label tells the task.
func TestNameLasts(t *testing.T) {
	for name, test := range map[string]struct {
		half  half
		label string
		want  bool
	}{
		"the control plane knows no labels": {half{control: true}, "task_id", true},
		"labels tell":                       {joined, "task_id", false},
		"only rows tell":                    {joined, "", true},
	} {
		r := newRig(t, test.half, cloudflaretest.Options{}, func(e *entry.Entry) { e.Link.TaskLabel = test.label })
		id := r.put(simulated.Sandbox{Name: "mine-1"})
		if all, _ := r.list(); all[id].StableName != test.want || r.get(id).StableName != test.want {
			t.Errorf("%s: listed as %+v, got as %+v; want its name to last %t", name, all[id], r.get(id), test.want)
		}
	}
}

func bothIDs(record, object string) []string { return []string{record, object} }

// What is over is gone by its former id too: no listing shows it any more.
func TestFormerIDOfWhatIsOver(t *testing.T) {
	r := newRig(t, joined, cloudflaretest.Options{})
	id := r.put(simulated.Sandbox{State: reconcile.SandboxEnded})
	r.server.Forget(id)
	if s, err := r.Get(t.Context(), cloudflaretest.Object(id)); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get = %+v, %v; want it gone", s, err)
	}
}

// A control plane that refuses the credential ends the listing as a Worker that does: who
// remembers that does not ask again at once.
func TestControlPlaneRefuses(t *testing.T) {
	r := newRig(t, joined, cloudflaretest.Options{}, func(e *entry.Entry) { e.Token = "revoked" })
	r.put(simulated.Sandbox{})
	n := 0
	_, err := r.List(t.Context(), func(page []reconcile.Sandbox) error { n += len(page); return nil })
	if !errors.Is(err, reconcile.ErrUnauthorized) || n != 1 {
		t.Errorf("List = %d sandboxes, %v; want the record and the refusal", n, err)
	}
}

// One half that does not answer: without records nothing is listed, without containers the
// listing is not complete, and by that alone no record is hollow.
func TestHalfInTheDark(t *testing.T) {
	for name, test := range map[string]struct {
		path     string
		terse    bool
		complete bool
		wrong    bool // an error
	}{
		"the Worker":        {path: cloudflaretest.WorkerPath, wrong: true},
		"the control plane": {path: cloudflaretest.ControlPath, terse: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, joined, cloudflaretest.Options{Terse: test.terse})
			dark := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if strings.HasPrefix(q.URL.Path, test.path) {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				r.server.ServeHTTP(w, q)
			}))
			t.Cleanup(dark.Close)
			p, err := cloudflare.New(configure(cloudflare.Abilities, joined, dark.URL), entry.Options{})
			if err != nil {
				t.Fatal(err)
			}
			id := r.put(simulated.Sandbox{NoContainer: true})
			n := 0
			listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
				for _, s := range page {
					if n++; s.NoContainer {
						t.Errorf("listed %+v, want nothing said of its container", s)
					}
				}
				return nil
			})
			if (err != nil) != test.wrong || listing.Complete || !test.wrong && (n != 1 || len(listing.Missing) != 1 ||
				!strings.Contains(listing.Missing[0], "500")) {
				t.Errorf("List = %d sandboxes, %+v, %v", n, listing, err)
			}
			if _, err := p.Get(t.Context(), id); err == nil || errors.Is(err, reconcile.ErrNotFound) {
				t.Errorf("Get = %v, want an error that says neither", err)
			}
			if how, err := p.Terminate(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: id}}); err == nil || how != "" ||
				len(r.world.Destructive()) != 0 {
				t.Errorf("Terminate = %s, %v; want it not tried", how, err)
			}
		})
	}
}

// An object outlives its containers: what was created anew under the id is another sandbox.
func TestTerminateComparesTheIncarnation(t *testing.T) {
	for name, h := range map[string]half{"both": joined, "the Worker alone": {worker: true}} {
		for by, want := range map[time.Duration]reconcile.Termination{
			0: reconcile.TerminateAccepted, time.Second: reconcile.TerminateAccepted,
			1001 * time.Millisecond: reconcile.TerminateChanged, time.Hour: reconcile.TerminateChanged,
			-time.Hour: reconcile.TerminateAccepted,
		} {
			r := newRig(t, h, cloudflaretest.Options{})
			created := time.Now().Add(-2 * time.Hour).Truncate(time.Second)
			id := r.put(simulated.Sandbox{CreatedAt: created})
			expected := r.get(id)
			r.world.Change(id, func(s *simulated.Sandbox) { s.CreatedAt = created.Add(by) })
			how, err := r.Terminate(t.Context(), expected)
			if err != nil || how != want || (want == reconcile.TerminateChanged) != (len(r.world.Destructive()) == 0) {
				t.Errorf("%s, created %s later: Terminate = %s, %v after %v; want %s", name, by, how, err, r.world.Destructive(), want)
			}
		}
	}
}

// What ends a record without a container is the Worker's delete, and nothing is probed there.
func TestHollowIsEndedAndNotProbed(t *testing.T) {
	r := newRig(t, joined, cloudflaretest.Options{})
	id := r.put(simulated.Sandbox{NoContainer: true})
	s := r.get(id)
	r.world.ResetCalls()
	policy := reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute}
	if got := r.Probe(t.Context(), s, policy); got.Outcome != reconcile.NotAllowed || len(r.world.Calls()) != 0 {
		t.Errorf("Probe = %+v after %v, want nothing asked", got, r.world.Calls())
	}
	if how, err := r.Terminate(t.Context(), s); err != nil || how != reconcile.TerminateAccepted {
		t.Errorf("Terminate = %s, %v; want accepted", how, err)
	}
	if got, _ := r.world.Sandbox(id); !got.Doomed {
		t.Error("the record is there as before")
	}
}

// What the Worker has no record of runs, and nobody can run anything in it: the probe says so.
func TestProbeWithoutARecord(t *testing.T) {
	r := newRig(t, joined, cloudflaretest.Options{})
	id := r.put(simulated.Sandbox{Name: "mine-1"})
	r.server.Forget(id)
	got := r.Probe(t.Context(), r.get(id), reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Minute})
	if got.Outcome != reconcile.NotAllowed || !strings.Contains(got.Detail, "no record") {
		t.Errorf("Probe = %+v, want it barred for want of a record", got)
	}
}

// The vendor's gated calls: off unless asked for, and where they are not enabled that is said.
func TestInstanceAPI(t *testing.T) {
	enable := func(e *entry.Entry) { e.Extra["instance_api"] = "true" }
	for name, test := range map[string]struct {
		half    half
		enabled bool
		change  []func(*entry.Entry)
		want    reconcile.Termination
	}{
		"not asked for":            {half{control: true}, true, nil, reconcile.TerminateRefused},
		"asked for, not enabled":   {half{control: true}, false, []func(*entry.Entry){enable}, reconcile.TerminateRefused},
		"asked for and enabled":    {half{control: true}, true, []func(*entry.Entry){enable}, reconcile.TerminateAccepted},
		"a container no one knows": {joined, true, []func(*entry.Entry){enable}, reconcile.TerminateAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, test.half, cloudflaretest.Options{InstanceAPI: test.enabled}, test.change...)
			id := r.put(simulated.Sandbox{Name: "mine-1"})
			r.server.Forget(id)
			how, err := r.Terminate(t.Context(), r.get(id))
			refused := test.want == reconcile.TerminateRefused
			if how != test.want || refused != (err != nil) || refused && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("Terminate = %s, %v; want %s", how, err, test.want)
			}
			if s, _ := r.world.Sandbox(id); s.Doomed == refused {
				t.Errorf("it is doomed %t, want %t", s.Doomed, !refused)
			}
		})
	}
}

// A control plane that takes no pages of our size is asked for pages of its own.
func TestPageSizeIsRefused(t *testing.T) {
	r := newRig(t, half{control: true}, cloudflaretest.Options{MaxPerPage: 100})
	for i := range 120 {
		r.put(simulated.Sandbox{Name: fmt.Sprint("mine-", i)})
	}
	for range 2 {
		if all, listing := r.list(); len(all) != 120 || !listing.Complete {
			t.Errorf("List = %d sandboxes, %+v; want 120", len(all), listing)
		}
	}
	if n := len(r.world.Calls()); n != 1+3+3 {
		t.Errorf("it took %d calls, want one that is refused and twice three pages", n)
	}
}

// What one half alone cannot, it says.
func TestHalves(t *testing.T) {
	control := newRig(t, half{control: true}, cloudflaretest.Options{})
	s := control.get(control.put(simulated.Sandbox{}))
	if _, err := control.Logs(t.Context(), s, 10); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Logs = %v, want it unsupported", err)
	}
	if _, err := control.Usage(t.Context(), s); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Usage = %v, want it unsupported", err)
	}
	worker := newRig(t, half{worker: true}, cloudflaretest.Options{})
	if _, err := worker.Quotas(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Quotas = %v, want it unsupported", err)
	}
	for name, change := range map[string]func(*entry.Entry){
		"neither half":        func(e *entry.Entry) { e.Token, e.Extra = "", nil },
		"no account":          func(e *entry.Entry) { e.Extra["account"] = "" },
		"no application":      func(e *entry.Entry) { e.Extra["application"] = "" },
		"no worker_token":     func(e *entry.Entry) { e.Extra["worker_token"] = "" },
		"an odd worker_url":   func(e *entry.Entry) { e.Extra["worker_url"] = "boxes.example" },
		"an odd instance_api": func(e *entry.Entry) { e.Extra["instance_api"] = "yes" },
	} {
		e := configure(cloudflare.Abilities, joined, "http://lab.test")
		change(&e)
		if _, err := cloudflare.New(e, entry.Options{}); err == nil {
			t.Errorf("New with %s = nil, want what is missing", name)
		}
	}
}
