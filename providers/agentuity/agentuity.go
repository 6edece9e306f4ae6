// Package agentuity speaks to Agentuity: a data plane in each region for the sandboxes, the
// control plane for which regions there are. It knows their traps: a command wakes a sandbox
// that is suspended, a sandbox may say idle while nothing in it works, and a probe that is
// answered by 500 may leave an execution in its queue for ever.
//
// # Decisions
//
//   - 2026-11-21: a client of our own. There is none in Go, and the vendor's in JavaScript
//     throws away the error codes that tell gone from wrong.
//   - 2026-11-21: a get asks for what was deleted too. "Terminated" proves more than a 404.
//   - 2026-11-21: pages overlap by one row. The API pages by number, so that a sandbox that
//     ends between two pages would hide another one.
//   - 2026-11-21: what probes left behind is told from other work by the name that the
//     command gets, which holds when it was asked for: no memory of ours is needed, so that
//     replicas and runs from cron see the same.
package agentuity

import (
	"cmp"
	_ "embed" // the guide
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The vendor's cloud.
const (
	DefaultURL      = "https://api.agentuity.com"                         // control plane
	DefaultCatalyst = "https://catalyst-" + inRegion + ".agentuity.cloud" // data planes
)

// vendors are the hosts of the vendor's cloud: of its planes, and of the streams that sandboxes print to.
var vendors = []string{"*.agentuity.com", "*.agentuity.cloud", "*.agentuity.io"}

// inRegion stands for the region in the address of a data plane.
const inRegion = "{region}"

// projectLabel is the label that shows a sandbox's project, so that it may prove whose it is.
const projectLabel = "project"

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.URL(DefaultURL),
	entry.Token("an SDK key of the project, or a CLI key"),
	{Name: "org", Doc: "The organization's id, needed with a CLI key."},
	{Name: "project", Doc: "Only the sandboxes of the project with this id are listed."},
	{Name: "region", Doc: "The regions, with commas; all that the control plane names when not given."},
	{Name: "catalyst", Default: DefaultCatalyst, Doc: "The address of the data planes, with {region} where they differ."},
}

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Template: true, PageSize: pageSize, OldestFirst: true, StaysOnRecord: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxFailed},
	Refuses: true, Busy: true,
	Suspends: "pause: a checkpoint is kept, until the sandbox's paused time-out",
	Exec:     true, Files: true, ProbeIsActivity: true, ProbeTwice: true, LeftoverExecs: wire.MostLeft,
	Looks:          "get and listing: not told; a command in the sandbox is another",
	Deaths:         "events: when, and why where the event says so; nothing of what is lost with its machine",
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateMissing},
	Plants:         canaryLasts,
}

// A Provider is one organization, or one project of it, seen with one key. It is safe for
// concurrent use.
type Provider struct {
	entry        entry.Entry
	client       *wire.Client
	base         *wire.Base
	log          *slog.Logger
	org, project string
	catalyst     string   // address of a data plane; with inRegion, where they differ by region
	regions      []string // to ask; nil: all that there are

	known   atomic.Pointer[[]string] // regions that the control plane ever named
	waiting sync.Map                 // sandbox → when each of its queued executions was first seen
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do. Executing puts the idle time-out off: the vendor offers no way around.
func (p *Provider) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Named: p, Templates: p, Suspender: p, Logs: p, Executions: p,
		Checker: p, Deaths: p, Planter: p, ProbeIsActivity: true}
}

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	p := &Provider{entry: e, log: o.WithDefaults().Log.With("provider", e.Name),
		org: e.Extra["org"], project: e.Extra["project"]}
	err := errors.Join(Keys.Refuse(e), p.readPlaces(), proves(e))
	if err != nil {
		return nil, err
	}
	p.client, p.base, err = wire.Open(e, o, wire.Dialect{
		URL: DefaultURL, Hint: "are url and catalyst right?", Certain: certain, APIError: said, Authorize: p.authorize,
		Named: p.hosts(), Hosts: vendors,
		Wait: wire.Resets("X-RateLimit-Reset", "X-RateLimit-Retry-After"),
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// The calls that differ in what they show of us.
const (
	totals = "totals" // names the organization in a header too
	output = "output" // goes to a public address, of a host that the entry does not name
)

func (p *Provider) authorize(r *http.Request, k wire.Call) {
	if k.What == output {
		return
	}
	r.Header.Set("Authorization", "Bearer "+p.entry.Token)
	if k.What == totals {
		r.Header.Set("X-Agentuity-Orgid", p.org)
	}
}

// region is the form of a region's name: it becomes part of a host's name.
var region = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// readPlaces reads the regions and the address of their data planes. An entry with an
// address of its own that names no catalyst has both planes there, as the vendor's client
// has it.
func (p *Provider) readPlaces() error {
	p.regions = strings.FieldsFunc(p.entry.Extra["region"], func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range p.regions {
		if !region.MatchString(name) {
			return fmt.Errorf("region %q is no region: write it like usc, or several like usc, usw", name)
		}
	}
	p.catalyst = strings.TrimRight(cmp.Or(p.entry.Extra["catalyst"], p.entry.URL, DefaultCatalyst), "/")
	if p.catalyst == DefaultURL {
		p.catalyst = DefaultCatalyst
	}
	switch {
	case p.everywhere():
	case len(p.regions) > 1:
		return fmt.Errorf("catalyst has no %s in it, and region names several: each has an address of its own", inRegion)
	case len(p.regions) == 0:
		p.regions = []string{""}
	}
	_, err := wire.Address("catalyst", strings.ReplaceAll(p.catalyst, inRegion, "usc"), DefaultCatalyst)
	return err
}

// hosts are those of data planes that the entry names.
func (p *Provider) hosts() []string {
	if p.catalyst == DefaultCatalyst {
		return nil
	}
	if !p.everywhere() {
		return []string{wire.HostOf(p.catalyst)}
	}
	const region = "region--x"
	_, after, _ := strings.Cut(wire.HostOf(strings.ReplaceAll(p.catalyst, inRegion, region)), region)
	_, below, _ := strings.Cut(after, ".")
	return []string{"*." + below}
}

// everywhere reports whether the data planes differ by region.
func (p *Provider) everywhere() bool { return strings.Contains(p.catalyst, inRegion) }

// proves refuses an entry that rests on what a listing does not show: nothing would be
// found, and that would look as if there were nothing.
func proves(e entry.Entry) error {
	for key, labels := range map[string]map[string]string{"owns": e.Owns.Labels, "owns.except": e.Owns.Except.Labels} {
		for label := range labels {
			if label != projectLabel {
				return fmt.Errorf("%s.labels: a listing of agentuity does not show %s; "+
					"use name_prefix, or the label %s with the project's id", key, label, projectLabel)
			}
		}
	}
	if e.Link.TaskLabel != "" || strings.HasPrefix(e.Link.Sandbox, "label:") {
		return errors.New("link: a listing of agentuity shows no metadata; leave task_label out, " +
			"and use link.sandbox: id or name")
	}
	return nil
}
