package reconcile

// remedySteps are the ordered steps of a remedy: the row first, then the sandboxes, so
// that nobody is sent to a sandbox that is about to end.
func (v *view) remedySteps(d *Decision, f *Finding, remedy Remedy) []Action {
	s := d.Subject
	base := Action{Rule: f.Rule, Subject: f.Subject, Task: f.Task, Reason: f.Reason, Evidence: f.Evidence}
	if remedy == Terminate || s.Task == nil || s.Fate != FateLive {
		return v.terminateSteps(base, s, Ref{f.Provider, f.Sandbox})
	}
	row := base
	row.Step = StepFail
	if remedy == Requeue && v.mayRequeue(s) {
		row.Step = StepRequeue
	}
	return append([]Action{row}, v.terminateSteps(base, s, Ref{})...)
}

// terminateSteps end one sandbox of the subject, or all of them. Those that are on their
// way out, in an unknown state, or not proven ours are left.
func (v *view) terminateSteps(base Action, s *Subject, only Ref) []Action {
	var steps []Action
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if only != (Ref{}) && b.Ref != only || !b.Here || !b.Owned || b.State == SandboxEnded || v.ending[b.Ref] {
			continue
		}
		if only == (Ref{}) && (b.State == SandboxUnknown || b.State == SandboxDeleting) {
			continue
		}
		a := base
		a.Step, a.Provider, a.Sandbox = StepTerminate, b.Provider, b.ID
		steps = append(steps, a)
	}
	return steps
}

// mayRequeue: only while attempts are left and nothing explains the failure that would
// make the next attempt fail as well.
func (v *view) mayRequeue(s *Subject) bool {
	cause, _ := v.cause(s)
	return s.Task.Retries && s.Task.Attempts < s.Task.MaxAttempts && cause == ""
}

// rowOnly reports whether the remedy only writes a row while everything is trusted and
// nothing runs for the task: it destroys nothing.
func (v *view) rowOnly(d *Decision, steps []Action) bool {
	if len(steps) != 1 || steps[0].Step == StepTerminate {
		return false
	}
	if !v.trusted(sourceTasks) || !v.trusted(sourceLink) {
		return false
	}
	for _, provider := range v.providersOf(d.Subject) {
		if !v.trusted(listingOf(provider)) {
			return false
		}
	}
	return !d.Subject.hasBox(func(b *Box) bool { return !b.Gone && (!b.Here || b.State != SandboxEnded) })
}
