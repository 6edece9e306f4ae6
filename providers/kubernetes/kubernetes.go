// Package kubernetes speaks to a Kubernetes cluster: Pods by label, and the claims and
// sandboxes of kubernetes-sigs/agent-sandbox (v1beta1). It knows their traps: names that
// are used again, listings that expire while they are read, owners that make anew what is
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
package kubernetes

import (
	_ "embed" // the guide
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Abilities are what the adapter can do with Pods.
var Abilities = wire.Abilities{
	Labels: true, Filter: true, Template: true, PageSize: pageSize,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxStopped,
		reconcile.SandboxFailed},
	CompareAndDelete: true, Refuses: true, Busy: true,
	Exec: true, Files: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateFailed},
}

// Claims are what the adapter can do with the claims and sandboxes of agent-sandbox.
func Claims() wire.Abilities {
	can := Abilities
	can.States = append(slices.Clone(can.States), reconcile.SandboxSuspended)
	can.TemplateStates = []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateMissing}
	return can
}

// A Provider is some namespaces of one cluster, seen with one credential. It is safe for
// concurrent use.
type Provider struct {
	entry      entry.Entry
	client     *wire.Client
	frame      *wire.Frame
	stream     *rest.Config // for exec: each connection is made anew
	namespaces []string
	kinds      []kind // that are listed
	container  string // the sandbox's container; "": the Pod's default one
}

var (
	_ reconcile.Provider  = (*Provider)(nil)
	_ reconcile.Templates = (*Provider)(nil)
	_ reconcile.Logs      = (*Provider)(nil)
	_ reconcile.Usage     = (*Provider)(nil)
	_ reconcile.Checker   = (*Provider)(nil)
)

// New makes the adapter of an entry. It reads the credential's files and makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	o = o.WithDefaults()
	kinds, err := listed(e.Extra["objects"])
	if err != nil {
		return nil, err
	}
	if err := checkLabels(e); err != nil {
		return nil, err
	}
	config, namespace, err := credentials(e)
	if err != nil {
		return nil, err
	}
	p := &Provider{entry: e, kinds: kinds, container: e.Extra["container"],
		namespaces: words(first(e.Extra["namespace"], namespace))}
	if len(p.namespaces) == 0 {
		return nil, fmt.Errorf("namespace: %q names none", e.Extra["namespace"])
	}
	if p.client, err = connect(e, o, config); err != nil {
		return nil, err
	}
	p.frame = &wire.Frame{Entry: e, Now: p.client.Now, Redact: p.client.Redact}
	p.stream = rest.CopyConfig(config)
	p.stream.Wrap(p.guard)
	return p, nil
}

// listed are the kinds that the key objects names.
func listed(objects string) ([]kind, error) {
	switch objects {
	case "", "pods":
		return []kind{pods}, nil
	case "sandboxes":
		return []kind{claims, sandboxes}, nil
	case "all":
		return []kind{claims, sandboxes, pods}, nil
	}
	return nil, fmt.Errorf("objects: %q is none of pods, sandboxes, all", objects)
}

// words are the parts of a list with commas.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
