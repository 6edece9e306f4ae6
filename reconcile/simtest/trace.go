package simtest

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// A trace is what a person reads of a history. It is kept only when it is wanted; the hash of
// the steps costs little.
type trace struct {
	on    bool
	sum   bool
	hash  uint64
	lines []string
}

// add keeps a line.
func (t *trace) add(e *engine, format string, args ...any) {
	if !t.on {
		return
	}
	t.news(e)
	t.lines = append(t.lines, fmt.Sprintf("%11s ", history.Short(e.since().Truncate(1e6)))+fmt.Sprintf(format, args...))
}

// news keeps what truly happened since.
func (t *trace) news(e *engine) {
	for _, line := range e.place.News() {
		t.lines = append(t.lines, "             truth: "+line)
	}
}

// step keeps a call.
func (t *trace) step(e *engine, s *platform.Step) {
	if t.sum {
		t.hash = mixText(t.hash, s.Process)
		t.hash = mixText(t.hash, s.Party+s.Call)
		t.hash = mixText(t.hash, s.ID)
		t.hash = mix(t.hash, uint64(s.At))
	}
	if !t.on {
		return
	}
	t.add(e, "%-10s %s %s%s", s.Process, stepWhat(s), stepBecame(s), stepStruckBy(s))
}

func stepWhat(s *platform.Step) string {
	of := s.ID
	switch args := s.Args.(type) {
	case reconcile.Write:
		of = fmt.Sprintf("%s: %s version %s %s", s.ID, args.Step, args.Task.Version, args.Reason)
	case reconcile.Action:
		of = fmt.Sprintf("%s: %s %s of %s%s %s: %s", args.ID, args.Rule, args.Step, args.Subject, args.Sandbox, args.Outcome,
			args.Detail)
	case []string:
		of = strings.Join(args, ",")
	case reconcile.Hold, reconcile.Pause, reconcile.Release:
		of = fmt.Sprintf("%+v", args)
	case []reconcile.Action:
		for i := range args {
			of += fmt.Sprintf("%s %s/%s; ", args[i].Step, args[i].Provider, args[i].Sandbox)
		}
	}
	return strings.TrimSpace(s.Party + "." + s.Call + " " + of)
}

func (t *turn) what() string { return strings.TrimSpace(t.party + "." + t.name + " " + t.id) }

// stepBecame is what the process was told.
func stepBecame(s *platform.Step) string {
	if s.Err != nil {
		return "-> error: " + s.Err.Error()
	}
	switch a := s.Answer.(type) {
	case nil, bool, reconcile.Memory, map[string]reconcile.SourceSeen, reconcile.Controls, []reconcile.Notice:
		return ""
	case reconcile.Rows:
		return "-> " + rowsText(a)
	case reconcile.Sandbox:
		return fmt.Sprintf("-> %s %q task %q", a.State, a.Raw, a.Task)
	case []reconcile.Sandbox:
		return fmt.Sprintf("-> %d found", len(a))
	case []reconcile.Action:
		return fmt.Sprintf("-> %d open", len(a))
	case reconcile.Action:
		return fmt.Sprintf("-> %s %s of %s%s, attempt %d", a.Rule, a.Step, a.Subject, a.Sandbox, a.Attempts)
	case reconcile.ProbeResult:
		return fmt.Sprintf("-> %s %s", a.Outcome, a.Detail)
	}
	return fmt.Sprintf("-> %v", s.Answer)
}

func rowsText(rows reconcile.Rows) string {
	var b strings.Builder
	for i := range rows.Tasks {
		r := &rows.Tasks[i]
		fmt.Fprintf(&b, "%s %s %s; ", r.ID, r.Status, r.Sandbox)
	}
	for _, id := range rows.Unparsable {
		fmt.Fprintf(&b, "%s is no id; ", id)
	}
	if b.Len() == 0 {
		return "no rows"
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func stepStruckBy(s *platform.Step) string {
	out := ""
	if s.Struck != "" {
		out = " [fault: " + s.Struck + "]"
	}
	if s.Err != nil && s.Effect {
		out += " [it took effect]"
	}
	return out
}

// pass keeps what a pass came to.
func (t *trace) pass(e *engine, p *process, r *run.Result, err error) {
	if !t.on {
		return
	}
	if r == nil || err != nil {
		t.add(e, "%-10s pass failed: %v", p.name, err)
	}
	if r == nil {
		return
	}
	t.add(e, "%-10s ended a %s pass %d, complete %t %s", p.name, r.Kind, r.Pass, r.Complete, r.Error)
	for i := range r.Sources {
		if s := &r.Sources[i]; !s.Trusted {
			t.lines = append(t.lines, fmt.Sprintf("             not trusted: %s: %s", s.Name, s.Reason))
		}
	}
	for i := range r.Plan.Findings {
		f := &r.Plan.Findings[i]
		t.lines = append(t.lines, fmt.Sprintf("             finding: %s %s due %t held by %v: %s", f.Rule, f.Subject, f.Due,
			f.HeldBy.Texts(), f.Reason))
	}
	t.kept(r)
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		t.lines = append(t.lines, fmt.Sprintf("             step %s: %s %s of %s %s held by %q", s.ID, s.Rule, s.Step,
			s.Subject, s.Sandbox, s.HeldBy))
	}
}

// kept keeps why suspects were not found broken.
func (t *trace) kept(r *run.Result) {
	if r.Judged == nil {
		return
	}
	for i := range r.Judged.Decisions {
		if d := &r.Judged.Decisions[i]; d.Kept != "" {
			t.lines = append(t.lines, fmt.Sprintf("             kept: %s by %s: %s", d.Subject.ID, d.KeptBy, d.Kept))
		}
	}
}
