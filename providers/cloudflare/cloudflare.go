// Package cloudflare speaks to sandboxes in Cloudflare Containers. There are two halves, each
// usable alone. The control plane (applications, instances) says what really runs, and can
// end nothing. The user's own Worker has the registry of sandboxes, and its admin API lists,
// ends and probes them. With both, a record is joined with its container, and a record that
// says running where no container runs is seen as what it is.
//
// # Decisions
//
//   - 2026-11-21: with a Worker a sandbox goes by its id there, which is the name of its
//     Durable Object; without one it goes by the Durable Object's id, 64 hex digits. A name
//     maps to one object for ever, so that both are immutable.
//   - 2026-11-22: where a half is added to an entry, or taken from it, sandboxes go by another
//     id. Rows may name them by either; the former id is gone, but only once a listing has
//     shown the present one, so that no task is ever without both. Nothing is ended by the
//     former id.
//   - 2026-11-21: an object outlives its containers, and its id may be used again. A
//     terminate compares when the sandbox was created, besides the id.
//   - 2026-11-21: a Worker that does not answer fails the whole listing: without the records
//     the containers would look as if no task explained them. A control plane that does not
//     answer only makes it incomplete.
//   - 2026-11-22: the control plane alone makes no record hollow, unless it shows that the
//     container failed. One that stopped may sleep, and one that it does not show may be
//     another application's, or have slept for months: only the record's own object knows.
//   - 2026-11-22: a container whose record is not listed any more is shown as one without a
//     record only when the Worker says, asked for that record by id, that it is gone.
//   - 2026-11-21: the Worker's clean-ups (POST /cleanup, /cleanup/emergency) are never
//     called: they end what nobody judged.
package cloudflare

import (
	_ "embed" // the guide
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// DefaultURL is the API of the vendor's control plane.
const DefaultURL = "https://api.cloudflare.com/client/v4"

// exampleWorker is where a Worker's admin API may be.
const exampleWorker = "https://sandboxes.example.workers.dev/api/sandbox"

// The keys of the entry that this kind has of its own.
const (
	keyAccount     = "account"
	keyApplication = "application"
	keyInstances   = "instance_api"
	keyWorkerURL   = "worker_url"
	keyWorkerToken = "worker_token"
)

// Guide is what an operator should know: the credentials, the keys, the traps.
//
//go:embed guide.md
var Guide string

// states are told apart by both halves.
var states = []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning,
	reconcile.SandboxSuspended, reconcile.SandboxFailed}

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.URL(DefaultURL),
	entry.Token(""), // either half may lack
	{Name: keyAccount, Doc: "The account's id, for the control plane."},
	{Name: keyApplication, Doc: "The application's id, for the control plane."},
	{Name: keyInstances, Words: []string{"true", "false"},
		Doc: "The control plane ends containers without a record, where the vendor enabled these calls."},
	entry.Address(keyWorkerURL, "", "https://host/api/sandbox", "https", "http").Says("Address of the Worker's admin API."),
	{Name: keyWorkerToken, Secret: true, Doc: "Credential of the Worker's admin API."},
}

// Abilities are what the adapter can do with both halves.
var Abilities = wire.Abilities{
	Labels: true, Template: true, PageSize: pageSize, States: states, Refuses: true, StaysOnRecord: true,
	Exec: true, Files: true, LooksItself: true,
	Looks: "the control plane's instances and the object's own state: two stores, which are seen to disagree",
}

// WorkerAlone is what it can do with nothing but a Worker.
var WorkerAlone = func() wire.Abilities {
	a := Abilities
	a.StaysOnRecord, a.Looks = false, "the registry and the object's own state"
	return a
}()

// ControlPlaneAlone is what it can do without a Worker: look.
var ControlPlaneAlone = wire.Abilities{Template: true, PageSize: pageSize, States: states, StaysOnRecord: true,
	ReadOnly: true}

// A Provider is one application and the Worker before it, or one of the two. It is safe for
// concurrent use.
type Provider struct {
	entry   entry.Entry
	control *control // nil: not configured
	worker  *worker  // nil: not configured
	base    *wire.Base
	actors  sync.Map                        // containers → the ids of their records, as these were ever seen
	listed  atomic.Pointer[map[string]bool] // the ids of the last listing
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what the halves can do that are configured.
func (p *Provider) Capabilities() reconcile.Capabilities {
	can := reconcile.Capabilities{Named: p, Checker: p, NamesLast: p.namesLast()}
	if p.worker != nil {
		can.Logs, can.Usage = p, p
	}
	can.NoProbe = p.worker == nil
	can.NoTerminate = p.worker == nil && !p.control.kills
	if p.control != nil {
		can.Quotas = p
	}
	return can
}

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	p := &Provider{entry: e}
	if err := errors.Join(Keys.Refuse(e), entry.Refuse(halves(e))); err != nil {
		return nil, err
	}
	secrets := []string{e.Token, e.Extra[keyWorkerToken]} // each half knows all
	if err := errors.Join(p.openControl(o, secrets), p.openWorker(o, secrets)); err != nil {
		return nil, err
	}
	return p, nil
}

// Check is all that is wrong with the keys of an entry.
func Check(e entry.Entry) []entry.Mistake { return append(Keys.Check(e), halves(e)...) }

// halves is what either half lacks. One of the two is enough.
func halves(e entry.Entry) (out []entry.Mistake) {
	add := func(key, problem, fix string) { out = append(out, entry.Mistake{Key: key, Problem: problem, Fix: fix}) }
	address, secret := e.Extra[keyWorkerURL] != "", e.Extra[keyWorkerToken] != ""
	switch {
	case !address && secret:
		add(keyWorkerURL, "is not given, and worker_token is for nothing else", "give the address of the Worker's admin API")
	case address && !secret:
		add(keyWorkerToken, "is empty; the Worker must not end sandboxes for everybody",
			"give worker_token or worker_token_file")
	}
	if e.Token == "" && !address {
		add("token", "is empty, and no Worker is given either",
			"give token, account and application for the control plane, or worker_url and worker_token, or all")
	}
	for _, key := range []string{keyAccount, keyApplication} {
		if e.Token != "" && e.Extra[key] == "" {
			add(key, "is not given; the control plane needs it", "`npx wrangler containers list` shows the ids")
		}
	}
	return out
}

func (p *Provider) openControl(o entry.Options, secrets []string) error {
	e := p.entry
	if e.Token == "" {
		return nil
	}
	c, f, err := wire.Open(e, o, wire.Dialect{URL: DefaultURL, Certain: certainControl, Secrets: secrets,
		Hint: "is the url right, with /client/v4 at its end?"})
	if err != nil {
		return err
	}
	p.base = f
	p.control = &control{Client: c, account: e.Extra[keyAccount], application: e.Extra[keyApplication],
		kills: e.Extra[keyInstances] == "true"}
	return nil
}

func (p *Provider) openWorker(o entry.Options, secrets []string) error {
	e := p.entry
	e.URL, e.Token = e.Extra[keyWorkerURL], e.Extra[keyWorkerToken]
	if e.URL == "" {
		return nil
	}
	c, f, err := wire.Open(e, o, wire.Dialect{URL: exampleWorker, Certain: certainWorker, Secrets: secrets,
		Hint: "is worker_url right, with the path of the admin API at its end?",
		Authorize: func(r *http.Request, k wire.Call) {
			if k.What != openCall {
				r.Header.Set("Authorization", "Bearer "+e.Token)
			}
		}})
	if err != nil {
		return fmt.Errorf("worker_%w", err)
	}
	p.base, p.worker = f, &worker{c}
	return nil
}
