package config

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ProviderConfig is one place where sandboxes run.
type ProviderConfig struct {
	// Any name, unique; it is shown everywhere.
	Name string `yaml:"name" jsonschema:"required"`
	// Makes one entry for each of these; {each} stands for it in the name and in all other values.
	Each []string `yaml:"each"`
	// File that holds these, one a line, instead of each.
	EachFile string `yaml:"each_file"`
	// What tasks.columns.provider holds in the rows of this entry, besides its name; * is any text.
	Rows []string `yaml:"rows"`
	// What it is.
	Kind string `yaml:"kind" jsonschema:"required"`
	// Base address of its API; each kind has its default.
	URL string `yaml:"url"`
	// Credential of the API.
	Token Secret `yaml:"token"`
	// File that holds the credential, instead of token.
	TokenFile string `yaml:"token_file"`
	// Hosts that requests may go to, besides that of url; *.HOST is all below one. Default: the vendor's.
	Hosts []string `yaml:"hosts"`
	// Proof that a sandbox is this installation's; what is not proven is never touched.
	Owns OwnsConfig `yaml:"owns" jsonschema:"required"`
	// How a sandbox and a task know each other.
	Link LinkConfig `yaml:"link"`
	// Calls to the API, over all replicas.
	Rate Rate `yaml:"rate"`
	// Time for one call.
	Timeout time.Duration `yaml:"timeout" min:"100ms"`
	// Snapshots, templates or images to watch, besides those seen in use.
	Templates []string `yaml:"templates"`
	// How sandboxes are probed, or off.
	Probe ProbeConfig `yaml:"probe"`
	// What becomes of a sandbox that is due to be ended while it is stopped, paused or suspended.
	AtRest string `yaml:"at_rest" enum:"keep,terminate"`
	// What becomes of remedy: quarantine where the provider can neither stop nor pause a sandbox: the
	// config is refused, or what is found there is held.
	Quarantine string `yaml:"quarantine" enum:"refuse,hold"`
	// How long a quarantined sandbox is kept.
	QuarantineFor time.Duration `yaml:"quarantine_for" min:"1m"`
	// USD for one sandbox, for the cost of leaks.
	PricePerHour float64 `yaml:"price_per_hour"`
	// What sandboxes of a template, in a region or of a size cost instead; the first that fits counts.
	Prices []PriceConfig `yaml:"prices"`
	// The platform's HTTP API, for kind generic.
	API providers.API `yaml:"api"`

	Extra   map[string]string `yaml:",inline" json:"-"` // keys of the kind's own
	Secrets map[string]Secret `yaml:",inline" json:"-"` // those of them that are credentials
}

// PriceConfig is what the sandboxes of a template, in a region or of a size cost. What is not given is any.
type PriceConfig struct {
	// The template; any when not given.
	Template string `yaml:"template"`
	// The region; any when not given.
	Region string `yaml:"region"`
	// How many CPUs it has; any number when not given.
	CPU float64 `yaml:"cpu"`
	// Its memory; any when not given.
	MemoryGiB float64 `yaml:"memory_gib"`
	// How many GPUs it has; any number when not given.
	GPU float64 `yaml:"gpu"`
	// USD for one sandbox.
	PerHour float64 `yaml:"per_hour" jsonschema:"required"`
}

func (p PriceConfig) size() reconcile.Size {
	return reconcile.Size{CPU: p.CPU, GPU: p.GPU, MemoryGiB: p.MemoryGiB}
}

func (p ProviderConfig) prices() []reconcile.Price {
	var out []reconcile.Price
	for _, one := range p.Prices {
		out = append(out, reconcile.Price{Template: one.Template, Region: one.Region, Size: one.size(), PerHour: one.PerHour})
	}
	return out
}

// OwnsConfig is the proof that a sandbox is this installation's. All that is given must
// hold.
type OwnsConfig struct {
	// Labels that the sandbox has.
	Labels map[string]string `yaml:"labels"`
	// How its name begins.
	NamePrefix string `yaml:"name_prefix"`
	// Owned is what a task row refers to.
	Referenced bool `yaml:"referenced"`
	// Nobody else creates sandboxes that look like ours.
	Exclusive bool `yaml:"exclusive"`
	// What is never ours, whatever else proves it.
	Except ClassConfig `yaml:"except"`
	// What is ours and needs no task until one takes it: a warm pool.
	Spares ClassConfig `yaml:"spares"`
}

// ClassConfig is what sandboxes have in common, such as gateways, builders or the spares of a pool. Each part is
// enough.
type ClassConfig struct {
	// Labels that the sandbox has; all must hold.
	Labels map[string]string `yaml:"labels"`
	// A label that the sandbox has not.
	WithoutLabel string `yaml:"without_label"`
	// How its name begins.
	NamePrefix string `yaml:"name_prefix"`
	// Snapshots, templates or images that it is made from.
	Templates []string `yaml:"templates"`
}

// LinkConfig is how a sandbox and a task know each other.
type LinkConfig struct {
	// Label that holds the task's id.
	TaskLabel string `yaml:"task_label"`
	// Label that says which tenant's the sandbox is.
	TenantLabel string `yaml:"tenant_label"`
	// File of the key that signs what task_label holds: then a label without a signature links nothing.
	KeyFile string `yaml:"key_file"`
	// What tasks.sandbox holds: id, name or label:KEY.
	Sandbox string `yaml:"sandbox"`
	// Each sandbox of ours has the link, so that one without it may be ended; else it is only reported.
	Required bool `yaml:"required"`

	key Secret // of KeyFile
}

// ProbeConfig is how sandboxes are probed: a real exec and a real file listing.
type ProbeConfig struct {
	Off bool `yaml:"-"` // written as `probe: off`

	// Command; "" for no exec probe.
	Exec string `yaml:"exec"`
	// A path that always exists; "" for no file probe.
	Path string `yaml:"path"`
	// Command that tells of a sandbox which answers whether the task's worker is in it: exit 0 it is,
	// 1 it is not, anything else says nothing.
	Worker string `yaml:"worker"`
	// Each sandbox is probed this often, suspects apart.
	Every time.Duration `yaml:"every" min:"1s"`
	// Time for one probe.
	Timeout time.Duration `yaml:"timeout" min:"1s"`
	// Probes over all replicas.
	Budget Rate `yaml:"budget"`
}

func (p *ProviderConfig) setDefaults() {
	p.Rate = Rate{20, time.Second}
	p.Timeout = 10 * time.Second
	p.Probe = ProbeConfig{
		Exec: "true", Path: "/", Every: 10 * time.Minute, Timeout: 5 * time.Second, Budget: Rate{50, time.Minute},
	}
	p.AtRest, p.Quarantine, p.QuarantineFor = "keep", "refuse", day
}

// ownKeys are the keys that only some kinds have, with these.
var ownKeys = func() map[string][]string {
	all := map[string][]string{}
	for _, kind := range providers.Kinds() {
		for _, key := range providers.KeysOf(kind) {
			if key.Name == "url" || key.Name == "token" { // of every entry
				continue
			}
			all[key.Name] = append(all[key.Name], kind)
			if key.Secret {
				all[key.Name+"_file"] = append(all[key.Name+"_file"], kind)
			}
		}
	}
	return all
}()

// isSecret reports whether the key of a kind's own is a credential.
func isSecret(name string) bool { return ownKeys[name+"_file"] != nil }

// policy is what judging needs of the entry.
func (p ProviderConfig) policy() reconcile.ProviderPolicy {
	return reconcile.ProviderPolicy{
		Name: p.Name, Kind: p.Kind, URL: strings.TrimRight(p.URL, "/"),
		Exclusive: p.Owns.Exclusive, Referenced: p.Owns.Referenced,
		LinkTask: p.Link.TaskLabel != "", LinkSandbox: p.Link.Sandbox != "", SandboxIsID: p.Link.Sandbox == "id",
		SandboxIsName: p.Link.Sandbox == "name",
		LinkRequired:  p.Link.Required, EndsAtRest: p.AtRest == "terminate",
		Templates: slices.Clone(p.Templates), Probe: p.Probe.policy(),
		QuarantineFor: p.QuarantineFor, PricePerHour: p.PricePerHour, Prices: p.prices(), Key: p.keyID(),
		Rate: p.Rate.PerSecond(),
	}
}

// keyID tells the entry's credential from another one without telling it.
func (p ProviderConfig) keyID() string {
	if p.Token.Empty() {
		return ""
	}
	extra := p.seenBy()
	all := []string{p.Kind, p.URL, p.Token.Reveal()}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		all = append(all, key, extra[key])
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:4])
}

func (p ProbeConfig) policy() reconcile.ProbePolicy {
	if p.Off {
		return reconcile.ProbePolicy{Off: true}
	}
	return reconcile.ProbePolicy{
		Exec: p.Exec, Path: p.Path, Worker: p.Worker, Every: p.Every, Timeout: p.Timeout, Budget: p.Budget.PerMinute(),
	}
}

func (x ClassConfig) entry() providers.Class {
	return providers.Class{Labels: maps.Clone(x.Labels), WithoutLabel: x.WithoutLabel, NamePrefix: x.NamePrefix,
		Templates: slices.Clone(x.Templates)}
}

// Entries returns the providers to open, with their credentials.
func (c *Config) Entries() []providers.Entry {
	entries := make([]providers.Entry, len(c.Providers))
	for i, p := range c.Providers {
		entries[i] = p.entry()
	}
	return entries
}

func (p ProviderConfig) entry() providers.Entry {
	e := providers.Entry{
		Name: p.Name, Kind: p.Kind, URL: p.URL, Token: p.Token.Reveal(),
		Owns: providers.Owns{
			Labels: maps.Clone(p.Owns.Labels), NamePrefix: p.Owns.NamePrefix,
			Referenced: p.Owns.Referenced, Exclusive: p.Owns.Exclusive, Except: p.Owns.Except.entry(),
			Spares: p.Owns.Spares.entry(),
		},
		Link: providers.Link{TaskLabel: p.Link.TaskLabel, TenantLabel: p.Link.TenantLabel, Sandbox: p.Link.Sandbox,
			Key: p.Link.key.Reveal()},
		Rate: p.Rate.PerSecond(), Timeout: p.Timeout, Templates: slices.Clone(p.Templates),
		Hosts: slices.Clone(p.Hosts), Probe: p.Probe.policy(), Extra: p.extra(),
	}
	if _, described := providers.KeysOf(p.Kind).Find("api"); described {
		e.API = &p.API
	}
	return e
}

// seenBy are the keys of the kind's own that change what its credential sees or does.
func (p ProviderConfig) seenBy() map[string]string {
	extra := p.extra()
	maps.DeleteFunc(extra, func(name, _ string) bool {
		key, _ := providers.KeysOf(p.Kind).Find(name)
		return key.Aside
	})
	return extra
}

// extra are the keys of the kind's own, the credentials among them revealed.
func (p ProviderConfig) extra() map[string]string {
	var extra map[string]string
	for _, key := range providers.KeysOf(p.Kind) {
		value := p.Extra[key.Name]
		if key.Secret {
			value = p.Secrets[key.Name].Reveal()
		}
		if value == "" {
			continue
		}
		if extra == nil {
			extra = map[string]string{}
		}
		extra[key.Name] = value
	}
	return extra
}
