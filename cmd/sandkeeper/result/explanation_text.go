package result

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// linesOfTime is how many moments the text shows; JSON has them all.
const linesOfTime = 60

// Print writes the explanation for people.
func (e *Explanation) Print(w io.Writer) error {
	var b bytes.Buffer
	p := console.NewPaint(w)
	fmt.Fprintf(&b, "%s as of %s\n", text.Line(reconcile.FirstOf(e.Subject, e.ID)), text.Time(e.At))
	e.viewsText(&b)
	for _, s := range e.Sources {
		if !s.Trusted {
			fmt.Fprintf(&b, "%s %s: %s\n", p.Red("not trusted"), s.Name, text.Line(s.Reason))
		}
	}
	e.verdictText(&b, p)
	e.passText(&b, p)
	e.answersText(&b, p)
	e.momentsText(&b, p)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the explanation: %w", err)
	}
	return nil
}

func (e *Explanation) viewsText(b *bytes.Buffer) {
	if t := e.Task; t != nil {
		fmt.Fprintf(b, "\ntask table (times by its database's clock)\n"+
			"  %s is %s (%s), sandbox %q, started %s, updated %s, last seen %s\n",
			text.Line(t.ID), text.Line(t.Status), text.Line(reconcile.FirstOf(t.State, "not mapped")), t.Sandbox,
			console.Stamp(t.StartedAt), console.Stamp(t.UpdatedAt), console.Stamp(t.LastSeen))
		if t.Error != "" {
			fmt.Fprintf(b, "  error: %s\n", text.Line(t.Error))
		}
	}
	for i := range e.Sandboxes {
		e.Sandboxes[i].text(b)
	}
}

func (s *sandbox) text(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nprovider %s (times by its clock)\n  %s is %s, created %s, last activity %s\n",
		s.Provider, text.Line(s.ID), text.Line(sandboxWords(s)), console.Stamp(s.CreatedAt), console.Stamp(s.LastActivity))
	fmt.Fprintf(b, "  by the ledger's clock: first seen %s, in this state since %s\n",
		console.Stamp(s.FirstSeen), console.Stamp(s.StateSince))
	if s.Probe != "" {
		fmt.Fprintf(b, "  last probe %s: %s (%d failed in a row)\n",
			console.Stamp(s.ProbedAt), text.Line(s.Probe), s.Failures)
	}
}

func sandboxWords(s *sandbox) string {
	switch {
	case s.Gone:
		return "gone"
	case !s.Here:
		return "not listed"
	}
	return reconcile.FirstOf(s.Raw, "in an unknown state")
}

func (e *Explanation) verdictText(b *bytes.Buffer, p console.Paint) {
	fmt.Fprintln(b, "\nverdict")
	for i := range e.Findings {
		e.Findings[i].text(b, p)
	}
	for _, s := range e.Steps {
		fmt.Fprintf(b, "  %s %s %s\n", outcome(p, s), s.Step, target(s))
	}
	switch {
	case e.Kept == "":
	case !e.judged:
		fmt.Fprintf(b, "  not judged: %s\n", text.Line(e.Kept))
	case e.blind:
		fmt.Fprintf(b, "  not known: %s\n", text.Line(e.Kept))
	case len(e.Findings) == 0: // else it is only what another rule says, which stands under rules
		fmt.Fprintf(b, "  healthy because: %s\n", text.Line(e.Kept))
	}
	for _, i := range e.Incidents {
		fmt.Fprintf(b, "  part of incident %s (%s): %s\n", i.ID, i.State, text.Line(reconcile.FirstOf(i.Cause, i.Error,
			"cause unknown")))
	}
	for _, r := range e.FalsePositives {
		fmt.Fprintf(b, "  %s %s: %s\n", p.Red("false positive of"), r.Rule, text.Line(r.What))
	}
}

func (f *verdict) text(b *bytes.Buffer, p console.Paint) {
	fmt.Fprintf(b, "  %s: %s\n", p.Yellow(f.Rule), text.Line(f.Reason))
	for _, ev := range f.Evidence {
		fmt.Fprintf(b, "    %s %s: %s\n", text.Time(ev.At), ev.Source, text.Line(ev.Fact))
	}
	if len(f.HeldBy) > 0 {
		fmt.Fprintf(b, "    held by %s\n", text.Line(f.HeldBy.String()))
	}
}

// passText is what the last pass came to, which may differ from the look of now.
func (e *Explanation) passText(b *bytes.Buffer, p console.Paint) {
	l := e.LastPass
	if l == nil {
		return
	}
	fmt.Fprintf(b, "\nlast pass\n  number %d, %s, ended %s", l.Number, l.Kind, text.Time(l.EndedAt))
	if !l.Complete {
		fmt.Fprintf(b, ", %s", p.Red("not complete: "+text.Line(reconcile.FirstOf(l.Error, "no reason given"))))
	}
	fmt.Fprintln(b)
	if e.Whole {
		fmt.Fprintln(b, "  too long ago, does not know the id, or held it by what a listing showed: every provider was "+
			"listed for this answer")
	} else if e.Listed != nil {
		fmt.Fprintf(b, "  the rest of the fleet is as the full pass of %s left it\n", console.Stamp(e.Listed))
	}
	for i := range l.Findings {
		f := &l.Findings[i]
		state := "not due yet"
		if f.Due {
			state = reconcile.FirstOf(f.HeldBy.String(), "due")
		}
		fmt.Fprintf(b, "  found %s, %s, since %s\n", p.Yellow(f.Rule), text.Line(state), text.Time(f.FirstSeen))
	}
	if len(l.Findings) == 0 {
		fmt.Fprintln(b, "  left no finding open on it")
	}
}

// answersText is the answer of each rule that found or suspected something. Those that have nothing to find share
// a line, and so do those that are off; -o json has what each of them says.
func (e *Explanation) answersText(b *bytes.Buffer, p console.Paint) {
	if len(e.Answers) == 0 {
		return
	}
	fmt.Fprintln(b, "\nrules")
	var off, healthy []string
	for _, a := range e.Answers {
		says := a.Says
		switch says {
		case decide.SaysOff:
			off = append(off, a.Rule)
			continue
		case decide.SaysHealthy:
			healthy = append(healthy, a.Rule)
			continue
		case decide.SaysDue, decide.SaysFound:
			says = p.Yellow(says)
		}
		fmt.Fprintf(b, "  %s %s: %s\n", a.Rule, says, text.Line(a.Why))
	}
	if len(healthy) > 0 {
		fmt.Fprintf(b, "  nothing to find: %s (why: -o json)\n", strings.Join(healthy, ", "))
	}
	if len(off) > 0 {
		fmt.Fprintf(b, "  off: %s\n", strings.Join(off, ", "))
	}
}

// momentsText is everything that happened, the newest last.
func (e *Explanation) momentsText(b *bytes.Buffer, p console.Paint) {
	if len(e.Moments) > 0 {
		fmt.Fprintln(b, "\ntimeline (each time by the clock of what is named behind it)")
	}
	left := max(0, len(e.Moments)-linesOfTime)
	if left > 0 {
		fmt.Fprintf(b, "  … %s before, see -o json\n", console.Plural(left, "moment"))
	}
	for _, m := range e.Moments[left:] {
		own := ""
		if !m.ByLedger.IsZero() {
			own = ", at " + text.Time(m.At) + " by its own clock"
		}
		fmt.Fprintf(b, "  %s %s %s%s\n", text.Time(m.when()), p.Dim(m.Source), text.Line(m.What), own)
	}
	for _, l := range e.Logs {
		fmt.Fprintf(b, "\nlog saved %s by action %s\n  %s\n", text.Time(l.At), l.Action, text.Line(l.Text))
	}
}
