package peers

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The constants of Coder's job reaper.
const (
	coderEvery   = time.Minute
	coderHung    = 5 * time.Minute  // a job that started, since its last update
	coderPending = 30 * time.Minute // one that never did
	coderMost    = 10               // jobs in one run, drawn by lot
)

// Coder fails jobs that nobody updated for long. It looks again under a lock before it writes,
// and leaves what the job ran in to others.
func Coder() Policy {
	return Policy{Name: "Coder job reaper", Sweeps: []Sweep{
		{Name: "hung jobs", Every: coderEvery, Decide: coderReap},
	}}
}

func coderReap(v *View) []Deed {
	var out []Deed
	for _, t := range v.Tasks {
		if coderOverdue(t) {
			reason := fmt.Sprintf("not updated for %s", since(t, coderUpdated(t)))
			out = append(out, Deed{Verb: Fail, Task: t, Reason: reason, Still: coderOverdue})
		}
	}
	lots := rand.New(rand.NewPCG(v.Draw, 1))
	lots.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(len(out), coderMost)]
}

func coderOverdue(t reconcile.Task) bool {
	limit := coderHung
	if t.StartedAt.IsZero() && t.Events.Started.IsZero() {
		limit = coderPending
	}
	return t.State.Live() && since(t, coderUpdated(t)) > limit
}

// coderUpdated is when the job was updated. There the worker's heartbeat updates the row; a
// platform that keeps heartbeats elsewhere is not held against the rule.
func coderUpdated(t reconcile.Task) time.Time {
	return newest(t.UpdatedAt, t.CreatedAt, t.LastSeen())
}
