// Package kubernetes speaks to a Kubernetes cluster: Pods by label, and the claims and
// sandboxes of kubernetes-sigs/agent-sandbox (v1beta1). It knows their traps: names that
// are used again, listings that expire while they are read, owners that make again what is
// deleted under them, spares that belong to nobody yet, and a runtime that hangs while
// every status says Ready.
//
// # Decisions
//
//   - 2026-11-21: client-go gives the credentials, TLS and the exec protocol; lists, gets
//     and deletes are read into minimal types of our own. The dynamic client decodes into
//     maps, which takes several times as long as the bar for listings allows
//     (BenchmarkDynamic), and repeats calls by itself. It drives the simulator in tests.
//   - 2026-11-21: an id is kind_namespace_name_uid. A get goes by name and compares the
//     uid: the same name with another uid is another sandbox, and the old one is gone.
//   - 2026-11-21: nothing is ever deleted by force, nor by its name alone: each delete
//     carries uid and resourceVersion as preconditions. With grace 0 the API forgets a
//     container that still runs.
//   - 2026-11-21: claims are deleted in the foreground, so that a claim is gone only when
//     its sandbox and its Pod are.
//   - 2026-11-22: the halves of a probe go one after the other, and commands that never came back
//     are counted in memory. A cluster cannot be asked for them, and does not end them.
package kubernetes

import (
	"cmp"
	_ "embed" // the guide
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.URL(""), // follows the kubeconfig, or the Pod that we run in
	entry.Token(""),
	{Name: "namespace", Doc: "One namespace, or several with commas; that of the credential when not given."},
	{Name: "objects", Default: "pods", Words: []string{"pods", "sandboxes", "all"},
		Doc: "What is listed: Pods, the SandboxClaims and Sandboxes of agent-sandbox, or all."},
	{Name: "container", Doc: "The container of a Pod that is the sandbox; its default one when not given."},
	{Name: "row_holds", Default: "name", Words: []string{"name", "sandbox", "uid"},
		Doc: "What a row names with link: {sandbox: name}: the listed object, the Sandbox behind a claim, or a uid."},
	{Name: "owners", Default: "leave", Words: []string{"leave", "end"},
		Doc: "A Pod that a Job, a Deployment or a StatefulSet would make again: left, or ended by deleting the Job, or " +
			"by scaling to 0 what keeps just this Pod."},
	{Name: "context", Doc: "The context of the kubeconfig."},
	{Name: "kubeconfig", Doc: "The kubeconfig file."},
	{Name: "ca_file", Doc: "The file of the cluster's certificate authority, with url."},
	entry.StreamKey(),
}

// Abilities are what the adapter can do with Pods.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, Sizes: true, PageSize: pageSize,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxStopped,
		reconcile.SandboxFailed},
	CompareAndDelete: true, LooksItself: true, Refuses: true, Busy: true,
	Exec: true, Files: true, LeftoverExecs: wire.MostLeft,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateFailed},
	Looks:          "get and listing are one object (etcd), by the API's design; an exec asks the node",
	Deaths:         "the status of the object while it is there: reason and exit code of a Pod", Forgets: true,
	Plants: canaryLasts,
}

// Claims are what the adapter can do with the claims and sandboxes of agent-sandbox.
func Claims() wire.Abilities {
	can := Abilities
	can.Sizes = false // a claim names no container
	can.States = append(slices.Clone(can.States), reconcile.SandboxSuspended)
	can.TemplateStates = []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateMissing}
	return can
}

// A Provider is some namespaces of one cluster, seen with one credential. It is safe for
// concurrent use.
type Provider struct {
	entry      entry.Entry
	client     *wire.Client
	base       *wire.Base
	stream     *rest.Config // for exec: each connection is made again
	namespaces []string
	kinds      []kind   // that are listed
	through    bool     // Pods are ended through what would make them again
	container  string   // the sandbox's container; "": the Pod's default one
	left       sync.Map // sandbox → the leftovers of probes in its Pod
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do.
func (p *Provider) Capabilities() reconcile.Capabilities {
	can := reconcile.Capabilities{Named: p, Templates: p, Logs: p, Usage: p, Checker: p, Deaths: p, Planter: p}
	if p.streams() {
		can.Streams = p
	}
	return can
}

// streams reports whether its objects are watched besides the listings.
func (p *Provider) streams() bool { return p.entry.Extra["stream"] == "on" }

// New makes the adapter of an entry. It reads the credential's files and makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	o = o.WithDefaults()
	if err := errors.Join(Keys.Refuse(e), checkLabels(e), checkNamespaces(e)); err != nil {
		return nil, err
	}
	config, namespace, err := credentials(e)
	if err != nil {
		return nil, err
	}
	p := &Provider{entry: e, kinds: kindsOf[e.Extra["objects"]], container: e.Extra["container"],
		through: e.Extra["owners"] == "end"}
	p.namespaces = split(cmp.Or(e.Extra["namespace"], namespace))
	if len(p.namespaces) == 0 {
		return nil, fmt.Errorf("namespace: %q names none", e.Extra["namespace"])
	}
	if p.client, p.base, err = connect(e, o, config); err != nil {
		return nil, err
	}
	p.stream = rest.CopyConfig(config)
	p.stream.Wrap(func(next http.RoundTripper) http.RoundTripper { return p.client.Guard(next, wire.MaxOne) })
	return p, nil
}

// kindsOf are the kinds that the key objects names.
var kindsOf = map[string][]kind{
	"":          {pods},
	"pods":      {pods},
	"sandboxes": {claims, sandboxes},
	"all":       {claims, sandboxes, pods},
}
