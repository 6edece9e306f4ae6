package result

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// printText writes a report for people: what is not trusted first, then what is done, what
// is held and why, then what was found besides.
func printText(w io.Writer, r Pass) error {
	var b bytes.Buffer
	p := console.NewPaint(w)
	passText(&b, p, r)
	incidentsText(&b, p, r)
	for _, s := range r.Steps {
		if s.Incident == "" { // else told with its incident
			stepText(&b, p, s)
		}
	}
	for _, f := range besides(r) {
		findingText(&b, p, f)
	}
	learnedText(&b, p, r)
	fmt.Fprintln(&b, summary(r))
	return console.Print(w, &b)
}

// passText is which pass it is, and what is not trusted.
func passText(b *bytes.Buffer, p console.Paint, r Pass) {
	fmt.Fprintf(b, "%s pass at %s\n", r.Pass.Kind, text.Time(r.Pass.At))
	for _, s := range r.Sources {
		if !s.Trusted {
			fmt.Fprintf(b, "%s %s: %s\n", p.Red("NOT TRUSTED"), s.Name, text.Line(s.Reason))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.blind)) {
		blind := r.blind[name]
		fmt.Fprintf(b, "%s %s: %s could not be looked at there, as %s: %s\n", p.Red("NOT KNOWN"), name,
			console.Plural(blind.Subjects, "suspect"), text.Line(blind.Subject), text.Line(blind.Why))
	}
}

// learnedText are the thresholds that were learned.
func learnedText(b *bytes.Buffer, p console.Paint, r Pass) {
	for _, l := range r.Learned {
		fmt.Fprintf(b, "threshold of %s  %s\n", p.Bold(l.Rule), text.Line(l.Why))
	}
}

func stepText(b *bytes.Buffer, p console.Paint, s Step) {
	fmt.Fprintf(b, "%s %s %s  %s\n", outcome(p, s), s.Step, target(s), p.Dim(s.Rule))
	fmt.Fprintf(b, "    %s\n", text.Line(s.Reason))
	if len(s.HeldBy) > 0 {
		fmt.Fprintf(b, "    held by %s\n", p.Yellow(text.Line(s.HeldBy.String())))
	}
	if s.Detail != "" {
		fmt.Fprintf(b, "    %s\n", text.Line(s.Detail))
	}
}

func target(s Step) string {
	switch {
	case s.Template != "":
		return text.Line(fmt.Sprintf("template %s at %s", s.Template, s.Provider))
	case s.Sandbox != "" && s.Task != "":
		return text.Line(fmt.Sprintf("sandbox %s/%s of task %s", s.Provider, s.Sandbox, s.Task))
	case s.Sandbox != "":
		return text.Line(fmt.Sprintf("sandbox %s/%s", s.Provider, s.Sandbox))
	}
	return text.Line("task " + s.Task)
}

// outcome is the first word of a step's line.
func outcome(p console.Paint, s Step) string {
	switch {
	case s.Verdict == "held":
		return p.Yellow("held")
	case s.Outcome == "":
		return p.Green("do")
	case s.Outcome == reconcile.OutcomeDone, s.Outcome == reconcile.OutcomeConfirmed:
		return p.Green(string(s.Outcome))
	case s.Outcome == reconcile.OutcomeFailed:
		return p.Red(string(s.Outcome))
	}
	return p.Yellow(string(s.Outcome))
}

// besides are the findings that are no step: reported only, or not due yet. Those of incidents are told with them.
func besides(r Pass) (out []Finding) {
	told := map[string]bool{}
	for _, s := range r.Steps {
		told[s.Rule+" "+s.Task+" "+s.Sandbox] = true
		told[s.Rule+" "+s.Task+" "] = true
	}
	for _, f := range r.Findings {
		step := f.Sandbox != "" && told[f.Rule+" "+f.Task+" "+f.Sandbox] || f.Task != "" && told[f.Rule+" "+f.Task+" "]
		if !step && f.Incident == "" {
			out = append(out, f)
		}
	}
	return out
}

func findingText(b *bytes.Buffer, p console.Paint, f Finding) {
	what := strings.TrimSpace(f.Rule + " " + findingSubject(f))
	fmt.Fprintf(b, "%s %s\n    %s\n", p.Yellow("found"), what, text.Line(f.Reason))
	if len(f.HeldBy) > 0 {
		fmt.Fprintf(b, "    held by %s\n", p.Yellow(text.Line(f.HeldBy.String())))
	}
}

func findingSubject(f Finding) string {
	var parts []string
	if f.Task != "" {
		parts = append(parts, "task "+f.Task)
	}
	if f.Sandbox != "" {
		parts = append(parts, "sandbox "+f.Provider+"/"+f.Sandbox)
	}
	return text.Line(strings.Join(parts, ", "))
}

// summary is the last line: everything in one sentence.
func summary(r Pass) string {
	do, held, sources := 0, 0, 0
	for _, s := range r.Steps {
		if s.Verdict == "held" {
			held++
			continue
		}
		do++
	}
	for _, s := range r.Sources {
		if !s.Trusted {
			sources++
		}
	}
	kept := "healthy"
	if sources > 0 {
		kept = "left alone" // what could not be seen was judged neither way
	}
	out := fmt.Sprintf(
		"%s, %s to do, %d held, %d %s",
		console.Plural(len(r.Findings), "finding"),
		console.Plural(do, "step"),
		held,
		r.Kept,
		kept,
	)
	waiting := r.Unlooked
	for _, b := range r.blind {
		waiting -= b.Subjects
	}
	if waiting > 0 {
		out += fmt.Sprintf(", %d not looked at yet: each is, within %s", waiting,
			console.Plural(1+run.LookTurns(waiting), "pass"))
	}
	if failed := r.Unlooked - waiting; failed > 0 {
		out += fmt.Sprintf(", %d could not be looked at", failed)
	}
	if sources > 0 {
		out += ", " + console.Plural(sources, "source") + " not trusted"
	}
	return out
}
