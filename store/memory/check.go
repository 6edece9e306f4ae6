package memory

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// The checks below are those of the database's tables: a record with a word that is none
// is refused before anything of it is written.

var taskStates = [...]reconcile.TaskState{
	reconcile.TaskUnknown, reconcile.TaskPending, reconcile.TaskAssigned, reconcile.TaskRunning,
	reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped, reconcile.TaskParked, reconcile.TaskWaiting,
}

var sandboxStates = [...]reconcile.SandboxState{
	reconcile.SandboxUnknown, reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
	reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxDeleting, reconcile.SandboxEnded,
}

var templateStates = [...]reconcile.TemplateState{
	reconcile.TemplateUnknown, reconcile.TemplateActive, reconcile.TemplateInactive, reconcile.TemplateBuilding,
	reconcile.TemplateFailed, reconcile.TemplateMissing,
}

var steps = [...]reconcile.Step{
	reconcile.StepFail, reconcile.StepRequeue, reconcile.StepTerminate, reconcile.StepQuarantine, reconcile.StepResume,
	reconcile.StepRestore, reconcile.StepActivate,
}

var probeOutcomes = [...]reconcile.ProbeOutcome{
	reconcile.Answered, reconcile.CannotStart, reconcile.Hung, reconcile.Infrastructure, reconcile.NotAllowed,
}

var eventKinds = [...]string{
	"seen", "state", "finding", "resolved", "action", "probe", "operator", "source", "incident", "regret",
}

func checkRecord(r reconcile.Record) error {
	for _, t := range r.Tasks {
		if !slices.Contains(taskStates[:], t.State) {
			return fmt.Errorf("task %s: no such state: %q", t.ID, t.State)
		}
	}
	for _, s := range r.Sandboxes {
		if !slices.Contains(sandboxStates[:], s.State) {
			return fmt.Errorf("sandbox %s: no such state: %q", s.Ref, s.State)
		}
	}
	for _, t := range r.Templates {
		if !slices.Contains(templateStates[:], t.State) {
			return fmt.Errorf("template %s/%s: no such state: %q", t.Provider, t.Name, t.State)
		}
	}
	return checkWork(r)
}

func checkWork(r reconcile.Record) error {
	for _, f := range r.Findings {
		if f.Rule == "" || f.Subject == "" {
			return fmt.Errorf("finding %s of %s: rule and subject are needed", f.Rule, f.Subject)
		}
	}
	for _, a := range r.Actions {
		if err := checkAction(a); err != nil {
			return fmt.Errorf("action %s: %w", a.ID, err)
		}
	}
	for _, v := range r.Verdicts {
		if v.Rule == "" || v.Subject == "" || v.At.IsZero() {
			return fmt.Errorf("verdict of %s on %s: rule, subject and time are needed", v.Rule, v.Subject)
		}
	}
	for _, i := range r.Incidents {
		if i.ID == "" || i.Signature == "" || i.OpenedAt.IsZero() {
			return fmt.Errorf("incident %s: id, signature and opening time are needed", i.ID)
		}
	}
	for _, e := range r.Events {
		if !slices.Contains(eventKinds[:], e.Kind) || e.At.IsZero() {
			return fmt.Errorf("event of %s: no such kind: %q, or no time", e.Subject, e.Kind)
		}
	}
	return nil
}

func checkAction(a reconcile.Action) error {
	switch {
	case !slices.Contains(steps[:], a.Step):
		return fmt.Errorf("no such step: %q", a.Step)
	case a.Subject == "" || a.Remedy == "" || a.Seq < 0:
		return fmt.Errorf("a subject and a remedy are needed")
	case (a.Seq == 0) != (a.Remedy == a.ID):
		return fmt.Errorf("a remedy is named after its first step, and step %d is of %s", a.Seq, a.Remedy)
	case protocol.OnSandbox(a.Step) && (a.Provider == "" || a.Sandbox == ""):
		return fmt.Errorf("a %s needs a provider and a sandbox", a.Step)
	case a.Step == reconcile.StepActivate && a.Provider == "":
		return fmt.Errorf("an activate needs a provider")
	}
	return nil
}

func checkProbes(results []reconcile.ProbeResult) error {
	for _, p := range results {
		if !slices.Contains(probeOutcomes[:], p.Outcome) || p.At.IsZero() {
			return fmt.Errorf("probe of %s: no such outcome: %q, or no time", p.Ref, p.Outcome)
		}
		states := []reconcile.WorkerState{reconcile.WorkerUnknown, reconcile.WorkerAlive, reconcile.WorkerDead}
		if !slices.Contains(states, p.Worker) {
			return fmt.Errorf("probe of %s: no such state of a worker: %q", p.Ref, p.Worker)
		}
	}
	return nil
}
