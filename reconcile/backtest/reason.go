package backtest

import (
	"fmt"
	"strconv"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// percent is a rate for people.
func percent(rate float64) string {
	if rate >= 0.1 {
		return strconv.FormatFloat(100*rate, 'f', 0, 64) + " %"
	}
	return strconv.FormatFloat(100*rate, 'g', 2, 64) + " %"
}

// reason says in one line what the result came to, and what would do.
func (r *Replay) reason(t *tally, of *Result) string {
	than := text.Duration(of.After)
	if t.least != nil {
		than = "their limit"
	}
	did := fmt.Sprintf("%d of %s %s %s", of.FalsePositives, of.tasks(), t.words, than)
	if of.Spared > 0 {
		did += fmt.Sprintf(", and %d more for whom something spoke that the rule sees", of.Spared)
	}
	bound := of.bound()
	switch {
	case of.Samples == 0:
		return "not proven on your history: no finished task tells"
	case of.Proven:
		return reconcile.Joined("proven on your history: "+did, bound)
	case of.Samples < r.proof.Samples:
		return reconcile.Joined(fmt.Sprintf("not proven on your history: %d tasks are needed", r.proof.Samples), did,
			wouldDo(of))
	}
	return reconcile.Joined("not proven on your history: "+did, bound, wouldDo(of))
}

// tasks says which tasks the samples are.
func (r *Result) tasks() string {
	if r.LivedOn == 0 {
		return fmt.Sprintf("%d completed tasks", r.Samples)
	}
	return fmt.Sprintf("%d tasks that completed or lived on", r.Samples)
}

// bound is the upper bound in words.
func (r *Result) bound() string {
	return fmt.Sprintf("at most %s with %s confidence", percent(r.Upper), percent(Confidence))
}

// line says in short what the result came to, and what would do.
func (r *Replay) line(t *tally, of *Result) string {
	than := text.Duration(of.After)
	if t.least != nil {
		than = "their limit"
	}
	rate := float64(of.FalsePositives) / float64(max(of.Samples, 1))
	did := fmt.Sprintf("%s of %s %s %s", percent(rate), of.tasks(), t.words, than)
	would := ""
	if of.Suggested > of.After {
		would = text.Exact(of.Suggested) + " would do"
	}
	switch {
	case of.Samples == 0:
		return "not proven on your history: no finished task tells"
	case of.Proven:
		return "proven on your history: " + did
	case of.Samples < r.proof.Samples:
		return reconcile.Joined(fmt.Sprintf("not proven on your history: %d tasks are needed, %d tell", r.proof.Samples,
			of.Samples), would)
	case rate <= r.proof.FalsePositives: // too few to say so, or too many hidden
		return reconcile.Joined("not proven on your history: "+did, of.bound(), would)
	}
	return reconcile.Joined("not proven on your history: "+did, would)
}

// wouldDo says which threshold keeps the bound, and what it costs.
func wouldDo(of *Result) string {
	switch {
	case of.Suggested == 0:
		return ""
	case of.Dead == 0:
		return text.Exact(of.Suggested) + " would do"
	}
	return fmt.Sprintf("%s would do, for %.1f hours more of dead work", text.Exact(of.Suggested), max(of.Cost, 0))
}

// unsure says what of the history is only known from one side.
func (r *Replay) unsure(t *tally) string {
	switch t.rule {
	case "assigned-stale", "pending-stuck":
		if !r.policy.Tasks.HasAssigned {
			return "no column says when a task was handed out, so the whole time until its start counts"
		}
	case "heartbeat-lost", "inactive":
		return "a probe that fails is taken for granted, so the true rate is lower"
	}
	return ""
}

// fromLedger is the result of a rule that was not replayed: what the ledger has seen of its verdicts.
func (r *Replay) fromLedger(name string, seen reconcile.RuleReport) Result {
	out := Result{Rule: name, Class: All, After: r.policy.Rules[name].After, Samples: seen.Verdicts,
		FalsePositives: seen.FalsePositives, Upper: Upper(seen.FalsePositives, seen.Verdicts)}
	watched := reconcile.Watched(name)
	out.Proven = watched && out.Samples >= r.proof.Samples && out.Upper <= r.proof.FalsePositives
	verdicts := "the ledger has no verdict of it"
	switch {
	case seen.Verdicts > 0 && watched:
		verdicts = fmt.Sprintf("of %d verdicts in the ledger %d came back to life", seen.Verdicts, seen.FalsePositives)
	case seen.Verdicts > 0:
		verdicts = fmt.Sprintf("the ledger has %d verdicts, and what it ends cannot come back: look at some with explain",
			seen.Verdicts)
	}
	out.Reason = reconcile.Joined("cannot be replayed: "+r.lack(name), verdicts)
	return out
}

// lack says why a rule was not replayed.
func (r *Replay) lack(name string) string {
	if why := unreplayed[name]; why != "" {
		return why
	}
	for i := range replays {
		rule := &replays[i]
		if rule.rule != name {
			continue
		}
		if rule.lacks != nil && rule.lacks(&r.policy.Tasks) != "" {
			return rule.lacks(&r.policy.Tasks)
		}
		if rule.least != nil && r.policy.Rules[name].After <= 0 {
			return "neither the rule nor any finished task has a limit"
		}
	}
	return "no finished task tells when it was handed out, when it began or when it ended"
}
