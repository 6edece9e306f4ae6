package reconcile

import "strings"

// Holds are what keeps an open action from being carried out by what operators and the
// config say now, as far as that shows without looking at the world again: a hold by a
// sandbox's name or label is not among them.
func (p *Policy) Holds(c *Controls, a *Action) []string {
	holds := stepHolds(c, a, target{
		rule: a.Rule, subject: a.Subject, provider: a.Provider, sandbox: a.Sandbox, task: a.Task,
	})
	//guard:step-mode P9
	if rule, known := p.Rules[a.Rule]; known && rule.Mode != Enforce {
		holds = appendNew(holds, firstOf(string(rule.Mode), string(Off)))
	}
	//guard:step-no-tasks P4
	if p.Tasks.None && a.restsOnRow() {
		holds = append(holds, "it rests on a row, and the config says `tasks: none`")
	}
	return holds
}

// asked reports whether a person asked for the action: no rule stands behind it, and no pass
// has to call for it.
func (a *Action) asked() bool { return a.Rule == RuleOperator || a.Rule == RuleEmergency }

// onRow reports whether the step writes a task row.
func (s Step) onRow() bool { return s == StepFail || s == StepRequeue || s == StepRestore }

// restsOnRow reports whether the action writes a task row, or follows one that did.
func (a *Action) restsOnRow() bool {
	return a.Step.onRow() || a.Seq > 0 && !a.asked() && strings.HasPrefix(a.Subject, "task:")
}

// stepHolds are the operators' wishes and the open incidents that keep a step from being
// taken on a target. A hold keeps a thing from being ended or failed; it does not keep it
// from being brought back.
func stepHolds(c *Controls, a *Action, t target) []string {
	wishes := *c
	if a.Step == StepResume || a.Step == StepRestore {
		wishes.Holds = nil
	}
	//guard:incident-at-deed P7
	return append(controlHolds(&wishes, t), a.incidents(c)...)
}

// incidents are the open incidents that hold the step: the end of a sandbox whose failure has
// a cause that more ends do not mend. A requeue is not held: it is withdrawn, and the task is
// failed instead. Nor is an end that was tried before: the provider may have carried it out,
// and nobody would look.
func (a *Action) incidents(c *Controls) []string {
	tried := a.Attempts > 1 || a.Attempts == 1 && a.ClaimedBy == ""
	if tried || RuleNamed(a.Rule).Authoritative || a.asked() || a.Step != StepTerminate && a.Step != StepQuarantine {
		return nil
	}
	if id := c.incident(a.Signature); id != "" {
		return []string{"incident: " + id}
	}
	return nil
}

// incident is the id of the open incident that holds a signature; "" when none does.
func (c *Controls) incident(signature string) string {
	for i := range c.Incidents {
		if in := &c.Incidents[i]; signature != "" && in.Signature == signature && in.Holds() {
			return in.ID
		}
	}
	return ""
}
