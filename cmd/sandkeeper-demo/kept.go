package main

import (
	"fmt"
	"syscall"
)

// leaves says what the end of a demo does with what it made.
func leaves(keep bool) string {
	if keep {
		return "leaves config, log and database"
	}
	return "removes everything"
}

// stopDatabase ends the server in good order, so that it can be started again.
func (s *demoStage) stopDatabase() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.End(syscall.SIGINT)
}

// gone tells that all is over, and what is left.
func (t *teller) gone(s *demoStage) {
	if !s.keep || s.program == nil {
		t.note("everything is stopped and removed")
		return
	}
	t.note("everything is stopped; what it wrote is in %s", s.dir)
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\n  # the database again, until Ctrl-C\n  %s\n"+
		"  # then, in another terminal: the page as it was, and what happened\n"+
		"  %[2]s -c %[3]s serve\n  %[2]s -c %[3]s report\n",
		s.cluster.Command(), s.program.path, s.program.config)
}
