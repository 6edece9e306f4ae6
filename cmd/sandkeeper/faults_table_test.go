package main

import (
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// A faultTable collects what each fault came to, for one table at the end.
type faultTable struct {
	mu   sync.Mutex
	rows []string
}

func (r *faultTable) add(name string, s *siege) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &s.tally
	r.rows = append(r.rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s", name, t.actions, t.effects, t.repeated,
		t.asked, t.lost, t.unrecorded, t.harmed, s.failed, s.recovery.passes, s.recovery.took.Round(100*time.Millisecond)))
}

func (r *faultTable) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nfault\tactions\teffects\trepeated\tasked again\tlost\tunrecorded\tharmed\tpasses failed\tpasses to recover\tin")
	for _, row := range r.rows {
		fmt.Fprintln(w, row)
	}
	w.Flush()
	return text.String()
}
