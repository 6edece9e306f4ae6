package kubernetes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A look is what an object says of its state.
type look struct {
	state reconcile.SandboxState
	raw   string // the cluster's own word
	why   string // of a state that is no success
}

// look is the state of an object of the kind.
func (o *object) look(k kind, container string) look {
	if !o.Metadata.DeletionTimestamp.IsZero() {
		why := ""
		if len(o.Metadata.Finalizers) > 0 {
			why = "waits for finalizers: " + strings.Join(o.Metadata.Finalizers, ", ")
		}
		return look{reconcile.SandboxDeleting, "Terminating", why}
	}
	if k.word == pods.word {
		return o.lookPod(container)
	}
	return o.lookAgent()
}

// lookPod judges by the phase, and in it by the container that is the sandbox: what its
// companions do is not its own state.
func (o *object) lookPod(container string) look {
	main := o.main(container)
	run := one(o.Status.Containers, func(r *run) bool { return r.Name == main })
	switch s := &o.Status; {
	case s.Reason == "NodeLost":
		return look{reconcile.SandboxUnknown, "NodeLost", s.Message}
	case s.Phase == "Pending":
		return o.pending(run)
	case s.Phase == "Running":
		return o.running(run)
	case s.Phase == "Succeeded":
		return look{reconcile.SandboxStopped, s.Phase, ""}
	case s.Phase == "Failed":
		return look{reconcile.SandboxFailed, cmp.Or(s.Reason, s.Phase), o.failure(run)}
	}
	return look{reconcile.SandboxUnknown, o.Status.Phase, o.Status.Message} // Unknown: the node is lost
}

// A wait is what a container's reason to wait means, before the Pod ran and after.
type wait struct{ before, after reconcile.SandboxState }

var waits = map[string]wait{
	"":                           {reconcile.SandboxCreating, reconcile.SandboxCreating},
	"ContainerCreating":          {reconcile.SandboxCreating, reconcile.SandboxCreating},
	"PodInitializing":            {reconcile.SandboxCreating, reconcile.SandboxCreating},
	"ImagePullBackOff":           {reconcile.SandboxCreating, reconcile.SandboxFailed}, // a registry may come back
	"ErrImagePull":               {reconcile.SandboxCreating, reconcile.SandboxFailed},
	"RegistryUnavailable":        {reconcile.SandboxCreating, reconcile.SandboxFailed},
	"CreateContainerConfigError": {reconcile.SandboxCreating, reconcile.SandboxFailed},
	"CreateContainerError":       {reconcile.SandboxCreating, reconcile.SandboxFailed},
	"RunContainerError":          {reconcile.SandboxCreating, reconcile.SandboxFailed},
	"InvalidImageName":           {reconcile.SandboxFailed, reconcile.SandboxFailed}, // never mends itself
	"ErrImageNeverPull":          {reconcile.SandboxFailed, reconcile.SandboxFailed},
	"ImageInspectError":          {reconcile.SandboxFailed, reconcile.SandboxFailed},
	"CrashLoopBackOff":           {reconcile.SandboxFailed, reconcile.SandboxFailed},
}

// pending is a Pod on its way: it waits for a node, for its init containers, or for the
// container that is the sandbox.
func (o *object) pending(main *run) look {
	if c := o.condition("PodScheduled"); c != nil && c.Status == "False" {
		return look{reconcile.SandboxCreating, cmp.Or(c.Reason, "Pending"), c.Message}
	}
	for i := range o.Status.Init {
		if w := o.Status.Init[i].State.Waiting; w != nil && waits[w.Reason].before == reconcile.SandboxFailed {
			return look{reconcile.SandboxFailed, "Init:" + w.Reason, o.Status.Init[i].whyWaiting()}
		}
	}
	if main == nil || main.State.Waiting == nil {
		return look{reconcile.SandboxCreating, "Pending", ""}
	}
	reason := main.State.Waiting.Reason
	state := cmp.Or(waits[reason].before, reconcile.SandboxCreating)
	return look{state, cmp.Or(reason, "Pending"), main.whyWaiting()}
}

// running is a Pod of which some container runs.
func (o *object) running(main *run) look {
	switch {
	case main == nil:
		return look{reconcile.SandboxUnknown, "Running", "its container is not listed"}
	case main.State.Running != nil:
		return look{reconcile.SandboxRunning, "Running", ""}
	case main.State.Waiting != nil:
		reason := main.State.Waiting.Reason
		return look{waits[reason].after, cmp.Or(reason, "Waiting"), main.whyWaiting()}
	case main.State.Terminated == nil:
		return look{reconcile.SandboxCreating, "Waiting", ""} // the API says: waiting, when it says nothing
	}
	end := main.State.Terminated
	switch policy := o.Spec.RestartPolicy; {
	case policy != "Never" && (policy != "OnFailure" || end.ExitCode != 0):
		return main.restarting(end)
	case end.ExitCode == 0:
		return look{reconcile.SandboxStopped, cmp.Or(end.Reason, "Terminated"), ""}
	}
	return look{reconcile.SandboxFailed, cmp.Or(end.Reason, "Terminated"), end.String()}
}

// crashes is how many restarts make a loop of them.
const crashes = 2

// restarting is a container that ended and will be started again. The node calls a crash
// loop so only for a part of the time; in between the container has merely ended.
func (r *run) restarting(end *terminated) look {
	if r.Restarts >= crashes && end.ExitCode != 0 {
		return look{reconcile.SandboxFailed, "Restarting", fmt.Sprintf("restarted %d times; %s", r.Restarts, end)}
	}
	return look{reconcile.SandboxCreating, "Restarting", end.String()}
}

// failure is why a Pod failed: what the node says, else how its container ended.
func (o *object) failure(main *run) string {
	if o.Status.Reason != "" || o.Status.Message != "" {
		return strings.Trim(o.Status.Reason+": "+o.Status.Message, ": ")
	}
	if main != nil && main.State.Terminated != nil {
		return main.State.Terminated.String()
	}
	return ""
}

// whyWaiting is why a container waits, with how it ended before.
func (r *run) whyWaiting() string {
	w := r.State.Waiting
	if waits[w.Reason].before == reconcile.SandboxCreating && w.Message == "" {
		return ""
	}
	why := strings.Trim(w.Reason+": "+w.Message, ": ")
	if last := r.Last.Terminated; last != nil {
		why += "; before: " + last.String()
	}
	return why
}

func (t *terminated) String() string {
	why := fmt.Sprintf("%s, exit code %d", cmp.Or(t.Reason, "ended"), t.ExitCode)
	return strings.TrimSuffix(why+": "+t.Message, ": ")
}

// notReady are the reasons with which a Sandbox or a claim says that it is not ready. A
// reason that is not here stays unknown: the controller may be about to fix it.
var notReady = map[string]reconcile.SandboxState{
	"DependenciesNotReady": reconcile.SandboxCreating,
	"SandboxNotReady":      reconcile.SandboxCreating,
	"SandboxMissing":       reconcile.SandboxCreating,
	"WarmPoolNotFound":     reconcile.SandboxCreating, // somebody may still make the pool
	"SandboxSuspended":     reconcile.SandboxSuspended,
	"SandboxExpired":       reconcile.SandboxEnded, // kept as a record: its Pod is deleted
	"ClaimExpired":         reconcile.SandboxEnded,
	"PodSucceeded":         reconcile.SandboxStopped,
	"PodFailed":            reconcile.SandboxFailed,
	"InvalidMetadata":      reconcile.SandboxFailed, // its labels are refused, and stay so
}

// lookAgent judges a Sandbox or a claim by its conditions. What expired goes first: its
// other conditions are of the time before.
func (o *object) lookAgent() look {
	ready, finished := o.condition("Ready"), o.condition("Finished")
	if ready == nil {
		ready = &condition{}
	}
	raw := cmp.Or(ready.Reason, ready.Status)
	switch state := notReady[ready.Reason]; {
	case state == reconcile.SandboxEnded && (o.Status.Sandbox.Name != "" || bool(o.Status.PodIPs)):
		return look{reconcile.SandboxDeleting, raw, "what runs for it is still there: " + ready.Message}
	case state == reconcile.SandboxEnded:
		return look{state, raw, ready.Message}
	case o.Spec.OperatingMode == "Suspended":
		return look{reconcile.SandboxSuspended, "Suspended", ""}
	case finished != nil && finished.Status == "True":
		return look{notReady[finished.Reason], finished.Reason, finished.Message}
	case ready.Type == "":
		return look{reconcile.SandboxCreating, "Pending", ""}
	case ready.Status == "True":
		return look{reconcile.SandboxRunning, cmp.Or(ready.Reason, "Ready"), ""}
	case ready.Status != "False":
		return look{reconcile.SandboxUnknown, raw, ready.Message}
	case ready.Reason == "DependenciesNotReady" && strings.HasPrefix(ready.Message, "Pod is Running but not Ready"):
		return look{reconcile.SandboxRunning, "NotReady", ready.Message} // it came up: a probe tells how it is
	default:
		return look{state, cmp.Or(ready.Reason, "NotReady"), ready.Message}
	}
}
