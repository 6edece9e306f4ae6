// Package wiretest is what a protocol simulator needs besides its protocol: the calls
// journaled in a simulated world, the faults that are scripted there, the provider's clock
// in every answer, and a way to run without a network.
package wiretest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// maxBody is the largest request that is read.
const maxBody = 1 << 20

// A Front stands before a simulator's calls.
type Front struct {
	World *simulated.World
	// Fail answers with an error in the vendor's form.
	Fail func(w http.ResponseWriter, r *http.Request, status int, words string)
	// Known checks the credential; nil knows everybody.
	Known func(r *http.Request) bool
}

// An Exchange is one call under way.
type Exchange struct {
	W     http.ResponseWriter
	R     *http.Request
	Body  []byte
	Fault simulated.Fault // None, or one that only the simulator can carry out: NotDone and those of pages
}

// JSON answers with a value.
func (x Exchange) JSON(status int, v any) {
	x.W.Header().Set("Content-Type", "application/json")
	x.W.WriteHeader(status)
	_ = json.NewEncoder(x.W).Encode(v) // the client may have left
}

// Silence never answers: it waits until the client leaves.
func (x Exchange) Silence() { <-x.R.Context().Done() }

// Handle makes the handler of one call: which tells what it is in the world's words, do
// carries it out. Faults that do not need to know the protocol happen before do, after it,
// or in its place.
func (f Front) Handle(which func(r *http.Request) simulated.Call, do func(Exchange)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// A body that was read lets the server notice when the client leaves.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.Date(w)
		x := Exchange{W: w, R: r, Body: body, Fault: f.World.Called(which(r))}
		switch {
		case f.World.Wait(r.Context(), x.Fault) != nil:
			Cut(w)
		case f.Known != nil && !f.Known(r):
			f.Fail(w, r, http.StatusUnauthorized, "Invalid credentials")
		default:
			f.run(x, do)
		}
	}
}

// Date stamps an answer with the world's clock.
func (f Front) Date(w http.ResponseWriter) {
	w.Header().Set("Date", f.World.Now().UTC().Format(http.TimeFormat))
}

// run does the call as the fault lets it.
func (f Front) run(x Exchange, do func(Exchange)) {
	switch x.Fault.Effect {
	case simulated.Answer:
		f.misanswer(x)
	case simulated.Drop:
		Cut(x.W)
	case simulated.Flood, simulated.FloodPacked:
		flood(x)
	case simulated.CutPage:
		meant := shadow(x, do)
		x.W.Header().Set("Content-Type", "application/json")
		_, _ = x.W.Write(meant.body.Bytes()[:meant.body.Len()*2/3])
	case simulated.DoneThenDrop:
		shadow(x, do)
		Cut(x.W)
	case simulated.DoneThenAnswer:
		shadow(x, do)
		f.misanswer(x)
	default:
		do(x)
	}
}

// misanswer gives the fault's answer.
func (f Front) misanswer(x Exchange) {
	for name, value := range x.Fault.Header {
		x.W.Header().Set(name, value)
	}
	if x.Fault.Body == "" && x.Fault.ContentType == "" {
		f.Fail(x.W, x.R, x.Fault.Code(), "simulated fault")
		return
	}
	kind := x.Fault.ContentType
	if kind == "" {
		kind = "application/json"
	}
	x.W.Header().Set("Content-Type", kind)
	x.W.WriteHeader(x.Fault.Code())
	_, _ = io.WriteString(x.W, x.Fault.Body)
}

// shadow does the call without an answer to the client.
func shadow(x Exchange, do func(Exchange)) *reply {
	meant := newReply()
	x.W = meant
	do(x)
	return meant
}

// Cut breaks the connection in the middle of a call.
func Cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}
