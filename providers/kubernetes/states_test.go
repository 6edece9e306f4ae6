package kubernetes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// seen is an object as the API would show it.
func seen(t *testing.T, text string) *object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return &o
}

// pod is a Pod of two containers: a companion that runs, and the sandbox, main.
func pod(phase, main, more string) string {
	if main == "" {
		main = "{}"
	}
	return `{"metadata":{"name":"p","annotations":{"kubectl.kubernetes.io/default-container":"main"}},
		"spec":{"restartPolicy":"Never","containers":[{"name":"proxy"},{"name":"main"}]},
		"status":{"phase":"` + phase + `","containerStatuses":[
			{"name":"proxy","state":{"running":{}}},{"name":"main","state":` + main + `}]` + more + `}}`
}

const always = `"restartPolicy":"Always"`

func TestPodStates(t *testing.T) {
	wait := func(reason string) string {
		return `{"waiting":{"reason":"` + reason + `","message":"because"}}`
	}
	const dead, done = `{"terminated":{"exitCode":137,"reason":"OOMKilled"}}`, `{"terminated":{"exitCode":0,"reason":"Completed"}}`
	for name, test := range map[string]struct {
		text     string
		want     reconcile.SandboxState
		raw, why string
	}{
		"it waits for a node": {pod("Pending", "", `,"conditions":[{"type":"PodScheduled","status":"False",
			"reason":"Unschedulable","message":"0/3 nodes"}]`), reconcile.SandboxCreating, "Unschedulable", "0/3 nodes"},
		"it is gated": {pod("Pending", "", `,"conditions":[{"type":"PodScheduled","status":"False",
			"reason":"SchedulingGated"}]`), reconcile.SandboxCreating, "SchedulingGated", ""},
		"it is created":            {pod("Pending", wait("ContainerCreating"), ""), reconcile.SandboxCreating, "ContainerCreating", "because"},
		"its image is pulled":      {pod("Pending", "", ""), reconcile.SandboxCreating, "Pending", ""},
		"its image does not come":  {pod("Pending", wait("ImagePullBackOff"), ""), reconcile.SandboxCreating, "ImagePullBackOff", "because"},
		"its image fails at first": {pod("Pending", wait("ErrImagePull"), ""), reconcile.SandboxCreating, "ErrImagePull", "because"},
		"its image is no name":     {pod("Pending", wait("InvalidImageName"), ""), reconcile.SandboxFailed, "InvalidImageName", "because"},
		"its image may not come":   {pod("Pending", wait("ErrImageNeverPull"), ""), reconcile.SandboxFailed, "ErrImageNeverPull", "because"},
		"its config is not there":  {pod("Pending", wait("CreateContainerConfigError"), ""), reconcile.SandboxCreating, "CreateContainerConfigError", "because"},
		"it waits in a new word":   {pod("Pending", wait("Melting"), ""), reconcile.SandboxCreating, "Melting", "because"},
		"its init container crashes": {strings.Replace(pod("Pending", "", ""), `"containerStatuses"`,
			`"initContainerStatuses":[{"name":"i","state":`+wait("CrashLoopBackOff")+`}],"containerStatuses"`, 1),
			reconcile.SandboxFailed, "Init:CrashLoopBackOff", "because"},
		"it runs":                         {pod("Running", `{"running":{}}`, ""), reconcile.SandboxRunning, "Running", ""},
		"it runs and is not ready":        {pod("Running", `{"running":{}}`, `,"conditions":[{"type":"Ready","status":"False"}]`), reconcile.SandboxRunning, "Running", ""},
		"it crashes again":                {pod("Running", wait("CrashLoopBackOff"), ""), reconcile.SandboxFailed, "CrashLoopBackOff", "because"},
		"it cannot start again":           {pod("Running", wait("ImagePullBackOff"), ""), reconcile.SandboxFailed, "ImagePullBackOff", "because"},
		"it runs in a new word":           {pod("Running", wait("Melting"), ""), reconcile.SandboxUnknown, "Melting", "because"},
		"it says nothing":                 {pod("Running", "{}", ""), reconcile.SandboxCreating, "Waiting", ""},
		"it was killed":                   {pod("Running", dead, ""), reconcile.SandboxFailed, "OOMKilled", "exit code 137"},
		"it was done":                     {pod("Running", done, ""), reconcile.SandboxStopped, "Completed", ""},
		"it was killed, and starts":       {strings.Replace(pod("Running", dead, ""), `"restartPolicy":"Never"`, always, 1), reconcile.SandboxCreating, "Restarting", "137"},
		"it was killed twice, and starts": {strings.Replace(pod("Running", dead+`,"restartCount":1`, ""), `"restartPolicy":"Never"`, always, 1), reconcile.SandboxCreating, "Restarting", "137"},
		"it is killed again and again":    {strings.Replace(pod("Running", dead+`,"restartCount":2`, ""), `"restartPolicy":"Never"`, always, 1), reconcile.SandboxFailed, "Restarting", "restarted 2 times; OOMKilled"},
		"it is done again and again":      {strings.Replace(pod("Running", done+`,"restartCount":9`, ""), `"restartPolicy":"Never"`, always, 1), reconcile.SandboxCreating, "Restarting", ""},
		"it was done, and starts":         {strings.Replace(pod("Running", done, ""), `"restartPolicy":"Never"`, always, 1), reconcile.SandboxCreating, "Restarting", ""},
		"it was done, for good": {strings.Replace(pod("Running", done, ""), `"restartPolicy":"Never"`, `"restartPolicy":"OnFailure"`, 1),
			reconcile.SandboxStopped, "Completed", ""},
		"it failed, and starts": {strings.Replace(pod("Running", dead, ""), `"restartPolicy":"Never"`, `"restartPolicy":"OnFailure"`, 1),
			reconcile.SandboxCreating, "Restarting", "137"},
		"its companion crashes": {strings.Replace(pod("Running", `{"running":{}}`, ""), `"name":"proxy","state":{"running":{}}`,
			`"name":"proxy","state":`+wait("CrashLoopBackOff"), 1), reconcile.SandboxRunning, "Running", ""},
		"its container is not listed": {`{"spec":{"containers":[{"name":"main"}]},"status":{"phase":"Running"}}`,
			reconcile.SandboxUnknown, "Running", "not listed"},
		"it succeeded": {pod("Succeeded", done, ""), reconcile.SandboxStopped, "Succeeded", ""},
		"it failed":    {pod("Failed", dead, ""), reconcile.SandboxFailed, "Failed", "OOMKilled, exit code 137"},
		"it was evicted": {pod("Failed", "", `,"reason":"Evicted","message":"The node was low on resource: memory."`),
			reconcile.SandboxFailed, "Evicted", "low on resource"},
		"its node is lost":      {pod("Unknown", `{"running":{}}`, ""), reconcile.SandboxUnknown, "Unknown", ""},
		"its node was lost":     {pod("Running", `{"running":{}}`, `,"reason":"NodeLost","message":"no heartbeat"`), reconcile.SandboxUnknown, "NodeLost", "no heartbeat"},
		"in a phase of its own": {pod("hibernating", "", ""), reconcile.SandboxUnknown, "hibernating", ""},
		"without a status":      {`{}`, reconcile.SandboxUnknown, "", ""},
		"it is being deleted": {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"}}`,
			reconcile.SandboxDeleting, "Terminating", ""},
		"a finalizer keeps it": {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x.test/keep"]},
			"status":{"phase":"Failed"}}`, reconcile.SandboxDeleting, "Terminating", "x.test/keep"},
	} {
		got := seen(t, test.text).look(pods, "")
		if got.state != test.want || got.raw != test.raw || !strings.Contains(got.why, test.why) || test.why == "" && got.why != "" &&
			got.state != reconcile.SandboxCreating {
			t.Errorf("%s: %+v, want %q, %q, why %q", name, got, test.want, test.raw, test.why)
		}
	}
}

// Which container is the sandbox is said by the config, then by the Pod, then by the order.
func TestMainContainer(t *testing.T) {
	o := seen(t, pod("Running", `{"waiting":{"reason":"CrashLoopBackOff"}}`, ""))
	if got := o.look(pods, "proxy"); got.state != reconcile.SandboxRunning {
		t.Errorf("of the configured container: %+v, want it running", got)
	}
	if got := o.look(pods, ""); got.state != reconcile.SandboxFailed {
		t.Errorf("of the default container: %+v, want it failed", got)
	}
	o.Metadata.Annotations = notes{}
	if got := o.look(pods, ""); got.state != reconcile.SandboxRunning {
		t.Errorf("of the first container: %+v, want it running", got)
	}
}

func TestAgentStates(t *testing.T) {
	ready := func(status, reason, more string) string {
		return `{"status":{"conditions":[{"type":"PodScheduled","status":"True"},
			{"type":"Ready","status":"` + status + `","reason":"` + reason + `","message":"so it is"}` + more + `]}}`
	}
	finished := func(reason string) string {
		return `,{"type":"Finished","status":"True","reason":"` + reason + `"}`
	}
	for name, test := range map[string]struct {
		text string
		want reconcile.SandboxState
		raw  string
	}{
		"nothing is said yet": {`{}`, reconcile.SandboxCreating, "Pending"},
		"it is ready":         {ready("True", "DependenciesReady", ""), reconcile.SandboxRunning, "DependenciesReady"},
		"it comes up":         {ready("False", "DependenciesNotReady", ""), reconcile.SandboxCreating, "DependenciesNotReady"},
		"it came up, and says no more that it is ready": {
			strings.Replace(ready("False", "DependenciesNotReady", ""), "so it is", "Pod is Running but not Ready", 1),
			reconcile.SandboxRunning, "NotReady"},
		"its sandbox comes up":       {ready("False", "SandboxNotReady", ""), reconcile.SandboxCreating, "SandboxNotReady"},
		"it waits for a pool":        {ready("False", "WarmPoolNotFound", ""), reconcile.SandboxCreating, "WarmPoolNotFound"},
		"its labels are refused":     {ready("False", "InvalidMetadata", ""), reconcile.SandboxFailed, "InvalidMetadata"},
		"its Pod failed":             {ready("False", "PodFailed", finished("PodFailed")), reconcile.SandboxFailed, "PodFailed"},
		"its Pod is done":            {ready("False", "PodSucceeded", finished("PodSucceeded")), reconcile.SandboxStopped, "PodSucceeded"},
		"it ended in a new word":     {ready("False", "X", finished("Melted")), reconcile.SandboxUnknown, "Melted"},
		"it is suspended":            {ready("False", "SandboxSuspended", ""), reconcile.SandboxSuspended, "SandboxSuspended"},
		"it is being suspended":      {strings.Replace(ready("True", "DependenciesReady", ""), `{"status"`, `{"spec":{"operatingMode":"Suspended"},"status"`, 1), reconcile.SandboxSuspended, "Suspended"},
		"it expired and is kept":     {ready("False", "SandboxExpired", ""), reconcile.SandboxEnded, "SandboxExpired"},
		"its claim expired":          {ready("False", "ClaimExpired", finished("PodFailed")), reconcile.SandboxEnded, "ClaimExpired"},
		"it expired while suspended": {strings.Replace(ready("False", "SandboxExpired", ""), `{"status"`, `{"spec":{"operatingMode":"Suspended"},"status"`, 1), reconcile.SandboxEnded, "SandboxExpired"},
		"it expired, and its Pod is still there": {strings.Replace(ready("False", "SandboxExpired", ""), `{"conditions"`, `{"podIPs":["10.0.0.1"],"conditions"`, 1),
			reconcile.SandboxDeleting, "SandboxExpired"},
		"its claim expired, and its Sandbox is still there": {strings.Replace(ready("False", "ClaimExpired", ""), `{"conditions"`, `{"sandbox":{"name":"x"},"conditions"`, 1),
			reconcile.SandboxDeleting, "ClaimExpired"},
		"it expired, and nothing is left": {strings.Replace(ready("False", "SandboxExpired", ""), `{"conditions"`, `{"podIPs":[],"sandbox":{},"conditions"`, 1),
			reconcile.SandboxEnded, "SandboxExpired"},
		"its controller fails":           {ready("False", "ReconcilerError", ""), reconcile.SandboxUnknown, "ReconcilerError"},
		"there are two Pods":             {ready("False", "MultiplePods", ""), reconcile.SandboxUnknown, "MultiplePods"},
		"nobody knows whether it is":     {ready("Unknown", "", ""), reconcile.SandboxUnknown, "Unknown"},
		"it is not, for a new reason":    {ready("False", "Melting", ""), reconcile.SandboxUnknown, "Melting"},
		"it is not, and nobody says why": {ready("False", "", ""), reconcile.SandboxUnknown, "NotReady"},
		"it is being deleted": {`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["foregroundDeletion"]}}`,
			reconcile.SandboxDeleting, "Terminating"},
	} {
		for _, k := range []kind{claims, sandboxes} {
			if got := seen(t, test.text).look(k, ""); got.state != test.want || got.raw != test.raw {
				t.Errorf("%s (%s): %+v, want %q, %q", name, k.word, got, test.want, test.raw)
			}
		}
	}
}

// What waits in a pool is nobody's, and what stands behind a claim is the claim's.
func TestApart(t *testing.T) {
	by := func(version, kind string, labels string) string {
		return `{"metadata":{"labels":{` + labels + `},"ownerReferences":[
			{"apiVersion":"` + version + `","kind":"` + kind + `","controller":true}]}}`
	}
	const v1 = "/v1beta1"
	for name, test := range map[string]struct {
		kind kind
		text string
		want bool
	}{
		"a Pod by itself":                 {pods, `{}`, false},
		"a Pod of a Job":                  {pods, by("batch/v1", "Job", ""), false},
		"a Pod of a Sandbox":              {pods, by(agents+v1, "Sandbox", ""), true},
		"a Pod of an old Sandbox":         {pods, by(agents+"/v1alpha1", "Sandbox", ""), true},
		"a Pod that a Sandbox only names": {pods, `{"metadata":{"ownerReferences":[{"apiVersion":"` + agents + v1 + `","kind":"Sandbox"}]}}`, false},
		"a Pod of a pool by its label":    {pods, `{"metadata":{"labels":{"` + spareLabel + `":"1"}}}`, true},
		"a Sandbox by itself":             {sandboxes, `{}`, false},
		"a Sandbox of an operator":        {sandboxes, by("x.test/v1", "Session", ""), false},
		"a Sandbox of a claim":            {sandboxes, by(extensions+v1, "SandboxClaim", ""), true},
		"a spare":                         {sandboxes, by(extensions+v1, "SandboxWarmPool", ""), true},
		"a spare by its label":            {sandboxes, `{"metadata":{"labels":{"` + spareLabel + `":"1"}}}`, true},
		"a claimed one by its label":      {sandboxes, `{"metadata":{"labels":{"` + claimLabel + `":"u"}}}`, true},
		"a claim":                         {claims, by("x.test/v1", "Session", ""), false},
	} {
		if got := seen(t, test.text).apart(test.kind); got != test.want {
			t.Errorf("%s: apart = %t, want %t", name, got, test.want)
		}
	}
}

func TestIDs(t *testing.T) {
	n := name{claims, "agents", "run-1.x", "6f1d"}
	if got, err := parseID(n.id()); err != nil || got.id() != n.id() || got.plural != claims.plural {
		t.Errorf("parseID(%s) = %+v, %v; want it back", n.id(), got, err)
	}
	for _, id := range []string{"", "p", "pod_default_p", "pod_default_p_", "pod__p_u", "pod_default_p_u_v", "spare_default_p_u",
		"template_default_p_u", "6f1d"} {
		if n, err := parseID(id); err == nil {
			t.Errorf("parseID(%q) = %+v, want it no id", id, n)
		}
	}
}
