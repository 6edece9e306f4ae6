package vendors

import (
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A role is what a sandbox is there for.
type role string

const (
	healthy role = "healthy" // its task runs, and it works
	broken  role = "broken"  // its task runs, and nothing works in it any more
	orphan  role = "orphan"  // no task knows it
	rested  role = "rested"  // its task is done, its user stopped it
	deleted role = "deleted" // its task runs, its user deleted it
)

// An actor is a sandbox: as its vendor's client calls it, and as the world did when it was made.
type actor struct{ id, world string }

// tell has a vendor's client make sandboxes and work in them, lets some go wrong, has the
// program judge them, and asks the vendor's client what became of them.
func tell(s *stage) {
	cast, theirs := s.casting()
	s.lists(cast, healthy, broken, orphan, rested, deleted)
	s.refuses()
	s.rows(cast)
	s.restarts(cast[healthy])
	s.goWrong(cast)
	s.older()

	before := len(s.world.Destructive())
	s.judged(cast)

	s.works(cast[healthy])
	left := []role{healthy}
	if !slices.Contains(s.over, s.rests) {
		left = append(left, rested)
	}
	s.lists(cast, left...)
	s.isGone(cast[broken])
	s.isGone(cast[orphan])
	s.is(cast[healthy], s.running)
	s.is(cast[rested], s.rests)
	s.is(theirs, s.running)
	s.ended(before, cast[broken], cast[orphan])
}

// casting has the vendor's client make the sandboxes, and one of somebody else, and work in
// them.
func (s *stage) casting() (cast map[role]actor, theirs actor) {
	s.Helper()
	cast = map[role]actor{}
	for _, r := range []role{healthy, broken, orphan, rested, deleted} {
		cast[r] = s.create("mine-"+string(r), map[string]string{"project": "mine", "task_id": string(r)})
		s.works(cast[r])
	}
	theirs = s.create("theirs-1", map[string]string{"project": "theirs"})
	for _, o := range s.more {
		o.ID = theirs.id
		s.client.must(o, nil)
	}
	return cast, theirs
}

// create has the vendor's client make a sandbox.
func (s *stage) create(name string, labels map[string]string) actor {
	s.Helper()
	var b box
	s.client.must(order{Do: "create", Name: name, Labels: labels}, &b)
	made, err := s.world.Look(b.ID)
	if err != nil {
		s.Fatalf("the client made %q, and the world has no such sandbox: %v", b.ID, err)
	}
	s.made = append(s.made, made.ID)
	return actor{b.ID, made.ID}
}

// A note is a file that each sandbox gets.
const note = "note.txt"

// kept is what is written there.
const kept = "kept until it ends"

// works demands that commands run, and that files are kept.
func (s *stage) works(a actor) {
	s.Helper()
	var r ran
	if s.client.must(order{Do: "exec", ID: a.id, Command: "echo it works"}, &r); r.Exit != 0 ||
		r.Output != "it works\n" {
		s.Errorf("echo in %s = %+v, want 0 and the words", a.id, r)
	}
	if s.client.must(order{Do: "exec", ID: a.id, Command: "exit 3"}, &r); r.Exit != 3 {
		s.Errorf("exit 3 in %s = %+v", a.id, r)
	}
	s.client.must(order{Do: "write", ID: a.id, Path: s.folder + "/" + note, Text: kept}, nil)
	s.keeps(a)
	var names []string
	if s.client.must(order{Do: "files", ID: a.id, Path: s.folder}, &names); !slices.Contains(names, note) {
		s.Errorf("%s of %s lists %v, want %s among them", s.folder, a.id, names, note)
	}
	if s.client.try(order{Do: "read", ID: a.id, Path: s.folder + "/none"}, nil) == nil {
		s.Errorf("a file that nobody wrote was read from %s", a.id)
	}
}

// keeps demands that the note is there.
func (s *stage) keeps(a actor) {
	s.Helper()
	var got string
	if s.client.must(order{Do: "read", ID: a.id, Path: s.folder + "/" + note}, &got); got != kept {
		s.Errorf("%s of %s holds %q, want %q", note, a.id, got, kept)
	}
}

// refuses demands that a client with a wrong key is told so in words that it knows.
func (s *stage) refuses() {
	s.Helper()
	stranger := newClient(s.T, s.script, s.url, "wrong-key")
	e := stranger.try(order{Do: "list", Name: "mine-", Labels: map[string]string{"project": "mine"}}, nil)
	if e == nil || !strings.Contains(e.Name+": "+e.Message, s.denied) {
		s.Errorf("a wrong key was answered by %+v, want %s", e, s.denied)
	}
	stranger.stop()
}

// restarts has the vendor's client stop a sandbox and start it again: it works as before, and
// nobody may hold its rest against it.
func (s *stage) restarts(a actor) {
	s.Helper()
	s.client.must(order{Do: "stop", ID: a.id}, nil)
	s.is(a, s.rests)
	s.client.must(order{Do: "start", ID: a.id}, nil)
	s.is(a, s.running)
	s.keeps(a)
}

// lists demands that the client lists these, and nothing else of ours that is not over.
func (s *stage) lists(cast map[role]actor, roles ...role) {
	s.Helper()
	var boxes []box
	s.client.must(order{Do: "list", Name: "mine-", Labels: map[string]string{"project": "mine"}}, &boxes)
	var got, want []string
	for _, b := range boxes {
		if !slices.Contains(s.over, b.State) {
			got = append(got, b.ID)
		}
	}
	for _, r := range roles {
		want = append(want, cast[r].id)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("the client lists %v, want %v: %+v", got, want, boxes)
	}
}

// rows tells the platform's side.
func (s *stage) rows(cast map[role]actor) {
	s.Helper()
	for _, r := range []role{healthy, broken, deleted} {
		s.task(r, "running", cast[r].id)
	}
	s.task(rested, "completed", cast[rested].id)
}

// goWrong does what the roles say, by the vendor's client where it can.
func (s *stage) goWrong(cast map[role]actor) {
	s.Helper()
	s.client.must(order{Do: "stop", ID: cast[rested].id}, nil)
	s.is(cast[rested], s.rests)
	s.client.must(order{Do: "delete", ID: cast[deleted].id}, nil)
	s.isGone(cast[deleted])
	s.world.Change(cast[broken].world, func(b *simulated.Sandbox) { b.Exec, b.Files = simulated.Dead, simulated.Dead })
	if s.client.try(order{Do: "exec", ID: cast[broken].id, Command: "true"}, nil) == nil {
		s.Error("a command ran in the broken sandbox")
	}
	s.is(cast[broken], s.running) // and it says that it runs
}
