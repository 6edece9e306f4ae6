package reconcile

// Holds are what keeps an open action from being carried out by what operators and the
// config say now, as far as that shows without looking at the world again: a hold by a
// sandbox's name or label is not among them.
func (p *Policy) Holds(c *Controls, a *Action) []string {
	holds := controlHolds(c, target{
		rule: a.Rule, subject: a.Subject, provider: a.Provider, sandbox: a.Sandbox, task: a.Task,
	})
	if rule, known := p.Rules[a.Rule]; known && rule.Mode != Enforce {
		holds = appendNew(holds, firstOf(string(rule.Mode), string(Off)))
	}
	if p.Tasks.None && (a.Step != StepTerminate || a.Seq > 0) {
		holds = append(holds, "it rests on a row, and the config says `tasks: none`")
	}
	return holds
}
