package verceltest

import (
	"cmp"
	"crypto/sha256"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ID is the n-th session's id in the vendor's form, for [simulated.Options].
func ID(n int) string { return "sbx_" + word(n) }

// word is 28 letters and digits.
func word(n int) string {
	sum := sha256.Sum256(big.NewInt(int64(n)).Bytes())
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return (text + strings.Repeat("0", 28))[:28]
}

// createdByCalls keeps ids that calls make apart from those of the world.
const createdByCalls = 1 << 40

// fresh is a new id of the form prefix_word.
func (s *Server) fresh(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return prefix + "_" + word(createdByCalls+s.made)
}

// A session is what the server knows of one beyond its sandbox in the world. It is replaced
// as a whole, never changed in place.
type session struct {
	timeout time.Duration
	source  string // snapshot that it began from
	image   string
	runtime string
	taken   time.Time // when it was snapshotted
	deleted bool      // with its record
}

// defaultTimeout is a session's time where the create names none.
const defaultTimeout = 5 * time.Minute

// noted is what is kept of a session, which is remembered from then on.
func (s *Server) noted(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] == nil {
		s.sessions[id] = &session{timeout: defaultTimeout}
	}
	return s.sessions[id]
}

// note changes what is known of sessions.
func (s *Server) note(change func(*session), ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		now := session{timeout: defaultTimeout}
		if s.sessions[id] != nil {
			now = *s.sessions[id]
		}
		change(&now)
		s.sessions[id] = &now
	}
}

// forget takes back a session that did not begin.
func (s *Server) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

// A vm is one session as it is now.
type vm struct {
	simulated.Sandbox
	*session
	status string
}

// vm is a session by id. One whose record was deleted is no more.
func (s *Server) vm(id string) (vm, bool) {
	b, ok := s.world.Sandbox(id)
	if !ok {
		return vm{}, false
	}
	v := vm{b, s.noted(id), statusOf(b)}
	return v, !v.deleted
}

var words = map[reconcile.SandboxState]string{
	reconcile.SandboxCreating:  "pending",
	reconcile.SandboxRunning:   "running",
	reconcile.SandboxSuspended: "stopped",
	reconcile.SandboxStopped:   "stopped",
	reconcile.SandboxFailed:    "failed",
	reconcile.SandboxDeleting:  "stopping",
	reconcile.SandboxEnded:     "stopped",
}

func statusOf(b simulated.Sandbox) string {
	switch {
	case b.Gone:
		return "stopped"
	case b.Doomed:
		return "stopping"
	case b.Raw != "":
		return b.Raw
	}
	return words[b.State]
}

func over(status string) bool {
	return status == "stopped" || status == "failed" || status == "aborted"
}

// expires is when the session's time is over. A sandbox of the world without an end is one
// whose time its owner extends again and again.
func (v vm) expires(now time.Time) time.Time {
	if v.ExpiresAt.IsZero() {
		return now.Add(v.timeout)
	}
	return v.ExpiresAt
}

// began is since when the session's present status holds.
func (v vm) began() time.Time {
	if v.status == "running" {
		return v.CreatedAt
	}
	return v.UpdatedAt
}

// A record is a named sandbox with its sessions, oldest first.
type record struct {
	name     string
	sessions []vm
}

// ids are those of all its sessions.
func (r *record) ids() []string {
	var out []string
	for _, v := range r.sessions {
		out = append(out, v.ID)
	}
	return out
}

func (r *record) current() vm        { return r.sessions[len(r.sessions)-1] }
func (r *record) created() time.Time { return r.sessions[0].CreatedAt }

// records are all records as the fault lets them be seen, in the order of creation.
func (s *Server) records(f simulated.Fault) []*record {
	boxes, _ := s.world.Page(simulated.Query{Limit: 1 << 30}, f)
	if f.Effect != simulated.EmptyList {
		boxes = append(boxes, s.ended(boxes)...)
	}
	slices.SortStableFunc(boxes, func(a, b simulated.Sandbox) int { return a.CreatedAt.Compare(b.CreatedAt) })
	byName := map[string]*record{}
	var out []*record
	for _, b := range boxes {
		v := vm{b, s.noted(b.ID), statusOf(b)}
		if v.deleted {
			continue
		}
		name := b.FormerName()
		if byName[name] == nil {
			byName[name] = &record{name: name}
			out = append(out, byName[name])
		}
		byName[name].sessions = append(byName[name].sessions, v)
	}
	return out
}

// ended are the sessions that are over and were seen before.
func (s *Server) ended(listed []simulated.Sandbox) []simulated.Sandbox {
	there := map[string]bool{}
	for _, b := range listed {
		there[b.ID] = true
	}
	s.mu.Lock()
	var ids []string
	for id := range s.sessions {
		if !there[id] {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	slices.Sort(ids)
	var out []simulated.Sandbox
	for _, id := range ids {
		if b, ok := s.world.Sandbox(id); ok && b.Gone {
			out = append(out, b)
		}
	}
	return out
}

// record is the record of a name.
func (s *Server) record(name string) *record {
	all := s.records(simulated.Fault{})
	at := slices.IndexFunc(all, func(r *record) bool { return r.name == name })
	if at < 0 {
		return nil
	}
	return all[at]
}

// before orders records by what is asked for, and then by name, so that no two are equal.
func before(by string) func(a, b *record) int {
	return func(a, b *record) int {
		order := 0
		switch by {
		case "name":
		case "statusUpdatedAt":
			order = a.current().began().Compare(b.current().began())
		case "currentSnapshotId":
			order = cmp.Compare(a.current().source, b.current().source)
		default:
			order = a.created().Compare(b.created())
		}
		return cmp.Or(order, cmp.Compare(a.name, b.name))
	}
}
