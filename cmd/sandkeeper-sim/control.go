package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A control is how a test reaches into the world, past the provider's protocol. docs/simulators.md has its calls.
type control struct{ world *simulated.World }

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sandboxes", c.list)
	mux.HandleFunc("POST /sandboxes", c.put)
	mux.HandleFunc("POST /faults", c.inject)
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) {
		c.world.Fix()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /calls", c.calls)
	return mux
}

// A sandbox is one of the world, as controls show and take it.
type sandbox struct {
	ID       string                 `json:"id,omitempty"`
	Name     string                 `json:"name,omitempty"`
	State    reconcile.SandboxState `json:"state,omitempty"`
	Labels   map[string]string      `json:"labels,omitempty"`
	Template string                 `json:"template,omitempty"`
	Region   string                 `json:"region,omitempty"`
	Age      string                 `json:"age,omitempty"`   // since when it is there, as 10m
	Exec     simulated.Trouble      `json:"exec,omitempty"`  // what a command in it meets: dead, hung, lost, no fork
	Stuck    bool                   `json:"stuck,omitempty"` // its transitions never end
	Gone     bool                   `json:"gone,omitempty"`
}

func (c *control) list(w http.ResponseWriter, _ *http.Request) {
	out := []sandbox{}
	for _, b := range c.world.Sandboxes() {
		out = append(out, c.shown(b))
	}
	say(w, http.StatusOK, out)
}

func (c *control) shown(b simulated.Sandbox) sandbox {
	return sandbox{ID: b.ID, Name: b.Name, State: b.State, Labels: b.Labels, Template: b.Template, Region: b.Region,
		Age: c.world.Now().Sub(b.CreatedAt).Round(time.Second).String(), Exec: b.Exec, Stuck: b.Stuck, Gone: b.Gone}
}

func (c *control) put(w http.ResponseWriter, r *http.Request) {
	var s sandbox
	if !taken(w, r, &s) {
		return
	}
	age, given := lasts(w, "age", s.Age)
	if !given {
		return
	}
	say(w, http.StatusCreated, c.shown(c.world.Put(simulated.Sandbox{
		ID: s.ID, Name: s.Name, State: s.State, Labels: s.Labels, Template: s.Template, Region: s.Region,
		CreatedAt: c.world.Now().Add(-age), Exec: s.Exec, Files: s.Exec, Stuck: s.Stuck, Gone: s.Gone,
	})))
}

// A fault is a misbehaviour that a test asks for.
type fault struct {
	On     simulated.Kind   `json:"on"`    // list, get, create, delete, exec, …; "": every call
	ID     string           `json:"id"`    // only calls of this sandbox
	Skip   int              `json:"skip"`  // so many go well first
	Count  int              `json:"count"` // strikes so often; 0: until it is lifted
	Chance float64          `json:"chance"`
	Effect simulated.Effect `json:"effect"` // answer, hang, drop, done then drop, …; "": slower by delay
	Status int              `json:"status"`
	Body   string           `json:"body"`
	Delay  string           `json:"delay"`
}

// effects are those that need nothing but words.
var effects = map[simulated.Effect]bool{
	simulated.None: true, simulated.Answer: true, simulated.Hang: true, simulated.Drop: true, simulated.DoneThenDrop: true,
	simulated.DoneThenAnswer: true, simulated.NotDone: true, simulated.EmptyList: true, simulated.CutPage: true,
	simulated.Repeat: true, simulated.LoseLabels: true, simulated.Omit: true, simulated.SameCursor: true,
}

func (c *control) inject(w http.ResponseWriter, r *http.Request) {
	var f fault
	if !taken(w, r, &f) {
		return
	}
	delay, given := lasts(w, "delay", f.Delay)
	if !given {
		return
	}
	if !effects[f.Effect] {
		refuse(w, fmt.Errorf("effect %q: there is none of that name", f.Effect))
		return
	}
	c.world.Inject(simulated.Fault{On: f.On, ID: f.ID, Skip: f.Skip, Count: f.Count, Chance: f.Chance, Effect: f.Effect,
		Status: f.Status, Body: f.Body, Delay: delay})
	w.WriteHeader(http.StatusNoContent)
}

// A call is one that a client made.
type call struct {
	Kind simulated.Kind `json:"kind"`
	ID   string         `json:"id,omitempty"`
	Page int            `json:"page,omitempty"`
	At   time.Time      `json:"at"`
}

func (c *control) calls(w http.ResponseWriter, _ *http.Request) {
	out := []call{}
	for _, k := range c.world.Calls() {
		out = append(out, call(k))
	}
	say(w, http.StatusOK, out)
}

// taken reads a body, and answers when it is none.
func taken(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		refuse(w, err)
		return false
	}
	return true
}

func refuse(w http.ResponseWriter, err error) {
	say(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have left
}

// lasts reads a duration that may be left out, and says on w what is wrong with it.
func lasts(w http.ResponseWriter, what, text string) (d time.Duration, ok bool) {
	if text == "" {
		return 0, true
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		refuse(w, fmt.Errorf("%s: %w", what, err))
	}
	return d, err == nil
}
