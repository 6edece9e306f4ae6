package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// printText writes a report for people: what is not trusted first, then what is done, what
// is held and why, then what was found besides.
func printText(w io.Writer, r report) error {
	var b bytes.Buffer
	p := newPaint(w)
	fmt.Fprintf(&b, "%s pass at %s\n", r.Pass.Kind, text.Time(r.Pass.At))
	for _, s := range r.Sources {
		if !s.Trusted {
			fmt.Fprintf(&b, "%s %s: %s\n", p.red("NOT TRUSTED"), s.Name, text.Line(s.Reason))
		}
	}
	incidentsText(&b, p, r)
	stepsText(&b, p, r.Steps)
	findingsText(&b, p, r)
	fmt.Fprintln(&b, summary(r))
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

func stepsText(b *bytes.Buffer, p paint, steps []stepReport) {
	for _, s := range steps {
		if s.Incident != "" {
			continue // told with its incident
		}
		mark := p.outcome(s)
		fmt.Fprintf(b, "%s %s %s  %s\n", mark, s.Step, target(s), p.dim(s.Rule))
		fmt.Fprintf(b, "    %s\n", text.Line(s.Reason))
		if len(s.HeldBy) > 0 {
			fmt.Fprintf(b, "    held by %s\n", p.yellow(text.Line(s.HeldBy.String())))
		}
		if s.Detail != "" {
			fmt.Fprintf(b, "    %s\n", text.Line(s.Detail))
		}
	}
}

func target(s stepReport) string {
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

// findingsText shows the findings that are no step: reported only, or not due yet.
func findingsText(b *bytes.Buffer, p paint, r report) {
	told := map[string]bool{}
	for _, s := range r.Steps {
		told[s.Rule+" "+s.Task+" "+s.Sandbox] = true
		told[s.Rule+" "+s.Task+" "] = true
	}
	for _, f := range r.Findings {
		step := f.Sandbox != "" && told[f.Rule+" "+f.Task+" "+f.Sandbox] || f.Task != "" && told[f.Rule+" "+f.Task+" "]
		if step || f.Incident != "" {
			continue
		}
		what := strings.TrimSpace(f.Rule + " " + findingSubject(f))
		fmt.Fprintf(b, "%s %s\n    %s\n", p.yellow("found"), what, text.Line(f.Reason))
		if len(f.HeldBy) > 0 {
			fmt.Fprintf(b, "    held by %s\n", p.yellow(text.Line(f.HeldBy.String())))
		}
	}
}

func findingSubject(f findingReport) string {
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
func summary(r report) string {
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
		plural(len(r.Findings), "finding"),
		plural(do, "step"),
		held,
		r.Kept,
		kept,
	)
	if r.Unlooked > 0 {
		out += fmt.Sprintf(", %d not looked at yet: each is, within %s", r.Unlooked,
			plural(1+run.LookTurns(r.Unlooked), "pass"))
	}
	if sources > 0 {
		out += ", " + plural(sources, "source") + " not trusted"
	}
	return out
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
