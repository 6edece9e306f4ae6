package vendors

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// judged makes passes until the program has found all that is wrong, and confirmed its ends.
func (s *stage) judged(cast map[role]actor) {
	s.Helper()
	var seen []string
	want := []string{"idle-broken " + string(broken), "orphan " + string(orphan), "sandbox-missing " + string(deleted)}
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); {
		for _, f := range s.pass() {
			if line := f.Rule + " " + string(about(f, cast)); !slices.Contains(seen, line) {
				s.Logf("%s %s: %s %s", f.Rule, f.Sandbox, f.Reason, f.HeldBy)
				seen = append(seen, line)
			}
		}
		if s.gone(cast[broken]) && s.gone(cast[orphan]) && s.failed(broken, deleted) {
			break
		}
		time.Sleep(time.Second)
	}
	slices.Sort(seen)
	if !slices.Equal(seen, want) {
		s.Errorf("the program found %q, want %q", seen, want)
	}
	for r, status := range map[role]string{healthy: "running", broken: "failed", deleted: "failed", rested: "completed"} {
		if got, why := s.status(r); got != status {
			s.Errorf("the task of the %s sandbox is %s: %s; want %s", r, got, why, status)
		}
	}
}

// about is the role that a finding is about.
func about(f finding, cast map[role]actor) role {
	for r, a := range cast {
		if f.Task == string(r) || f.Sandbox == a.world {
			return r
		}
	}
	return role(f.Task)
}

// failed reports whether all these tasks were failed.
func (s *stage) failed(roles ...role) bool {
	return !slices.ContainsFunc(roles, func(r role) bool {
		status, _ := s.status(r)
		return status != "failed"
	})
}

// is demands what the vendor's client says of a sandbox.
func (s *stage) is(a actor, state string) {
	s.Helper()
	var b box
	if s.client.must(order{Do: "look", ID: a.id}, &b); b.State != state {
		s.Errorf("the client says that %s is %s, want %s", a.id, b.State, state)
	}
}

// isGone demands that the vendor's client says so.
func (s *stage) isGone(a actor) {
	s.Helper()
	if !s.gone(a) {
		s.Errorf("%s lives on, or the client cannot say", a.id)
	}
}

// gone asks the vendor's client whether a sandbox is over: not there, or in a state without
// return.
func (s *stage) gone(a actor) bool {
	s.Helper()
	var b box
	if e := s.client.try(order{Do: "look", ID: a.id}, &b); e != nil {
		if !strings.Contains(e.Name+": "+e.Message, s.missing) {
			s.Errorf("look at %s: the client says %s: %s; want %s", a.id, e.Name, e.Message, s.missing)
		}
		return true
	}
	return slices.Contains(s.over, b.State)
}

// ended demands that the program ended these, and nothing else.
func (s *stage) ended(before int, actors ...actor) {
	s.Helper()
	var got, want []string
	for _, c := range s.world.Destructive()[before:] {
		got = append(got, fmt.Sprint(c.Kind, " ", c.ID))
	}
	slices.Sort(got)
	for _, a := range actors {
		want = append(want, fmt.Sprint(simulated.Delete, " ", a.world))
	}
	slices.Sort(want)
	if !slices.Equal(slices.Compact(got), want) {
		s.Errorf("the program asked the vendor for %v, want %v", got, want)
	}
}
