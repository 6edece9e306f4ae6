package result

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// IncidentLine is one incident on one line, and its cause below it.
func IncidentLine(b *bytes.Buffer, p console.Paint, i Incident) {
	state := p.Dim(i.State)
	if i.State == "holds" {
		state = p.Yellow(i.State)
	}
	where := strings.Join(reconcile.NonEmpty(i.Provider, i.Template), " ")
	fmt.Fprintf(b, "%s  %s  %s, %s, %s to %s", i.ID, state, console.Plural(i.Count, "failure"), i.Rule,
		text.Time(i.FirstSeen), text.Time(i.LastSeen))
	if i.Cost != nil {
		fmt.Fprintf(b, ", %s", i.Cost)
	}
	if where != "" {
		fmt.Fprintf(b, ", at %s", text.Line(where))
	}
	fmt.Fprintf(b, "\n    %s\n", text.Line(reconcile.FirstOf(i.Cause, i.Error, "no likely cause found")))
}

// A FailedTask is one task that was failed or requeued under an incident.
type FailedTask struct {
	Task     string    `json:"task"`
	Provider string    `json:"provider,omitempty"`
	Sandbox  string    `json:"sandbox,omitempty"`
	Rule     string    `json:"rule"`
	FailedAt time.Time `json:"failed_at"`
	Reason   string    `json:"reason"`
}

// AffectedOf are the tasks whose rows were written, each once, by its newest verdict.
func AffectedOf(verdicts []reconcile.Verdict) []FailedTask {
	out := []FailedTask{}
	at := map[string]int{}
	for _, v := range verdicts {
		if v.Task == "" || v.FailedAt.IsZero() {
			continue
		}
		one := FailedTask{v.Task, v.Provider, v.Sandbox, v.Rule, v.FailedAt.UTC(), v.Reason}
		if i, known := at[v.Task]; known {
			if out[i].FailedAt.Before(one.FailedAt) {
				out[i] = one
			}
			continue
		}
		at[v.Task] = len(out)
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b FailedTask) int { return a.FailedAt.Compare(b.FailedAt) })
	return out
}
