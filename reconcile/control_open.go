package reconcile

import "slices"

// Holds are what keeps an open action from being carried out by what operators and the
// config say now, as far as that shows without looking at the world again: a hold by a
// sandbox's name or label is not among them.
func (p *Policy) Holds(c *Controls, a *Action) HeldBy {
	holds := StepHolds(c, a, ControlTarget{
		Rule: a.Rule, Subject: a.Subject, Provider: a.Provider, Sandbox: a.Sandbox, Task: a.Task,
	})
	//guard:step-mode P9
	if rule, known := p.Rules[a.Rule]; known && rule.Mode != Enforce {
		holds = holds.With(rule.Mode.Held())
	}
	//guard:step-no-tasks P4
	if p.Tasks.None && a.restsOnRow() {
		holds = append(holds, Held{Kind: HeldNoTasks, Reason: "it rests on a row, and the config says `tasks: none`"})
	}
	return holds
}

// Asked reports whether a person asked for the action: no rule stands behind it, and no pass
// has to call for it.
func (a *Action) Asked() bool { return slices.Contains(AskedRules, a.Rule) }

// OnRow reports whether the step writes a task row.
func (s Step) OnRow() bool { return s == StepFail || s == StepRequeue || s == StepRestore }

// restsOnRow reports whether the action writes a task row, or follows one that did.
func (a *Action) restsOnRow() bool {
	return a.Step.OnRow() || a.Seq > 0 && !a.Asked() && TypeOf(a.Subject) == SubjectTask
}

// StepHolds are the operators' requests and the open incidents that keep a step from being
// taken on a target. A hold keeps a thing from being ended or failed; it does not keep it
// from being brought back.
func StepHolds(c *Controls, a *Action, t ControlTarget) HeldBy {
	requests := *c
	if a.Step == StepResume || a.Step == StepRestore {
		requests.Holds = nil
	}
	//guard:incident-at-deed P7
	return append(ControlHolds(&requests, t), a.Incidents(c)...)
}

// Incidents are the open incidents that hold the step: the end of a sandbox whose failure has
// a cause that more ends do not fix. A requeue is not held: it is withdrawn, and the task is
// failed instead. Nor is an end that was tried before: the provider may have carried it out,
// and nobody would look.
func (a *Action) Incidents(c *Controls) HeldBy {
	tried := a.Attempts > 1 || a.Attempts == 1 && a.ClaimedBy == ""
	if tried || RuleNamed(a.Rule).Authoritative || a.Asked() || a.Step != StepTerminate && a.Step != StepQuarantine {
		return nil
	}
	if id := c.Incident(a.Signature); id != "" {
		return HeldBy{{Kind: HeldIncident, What: id}}
	}
	return nil
}

// Incident is the id of the open incident that holds a signature; "" when none does.
func (c *Controls) Incident(signature string) string {
	for i := range c.Incidents {
		if in := &c.Incidents[i]; signature != "" && in.Signature == signature && in.Holds() {
			return in.ID
		}
	}
	return ""
}
