package config

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// safeName is for what becomes part of labels, paths and subjects.
var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

const safeNameFix = "use letters, digits, dots, hyphens and underscores, at most 63"

// A providerCheck checks one entry.
type providerCheck struct {
	*report
	*ProviderConfig
	key string
}

func (k providerCheck) failAtKey(name, problem, fix string) {
	k.fail(joinKey(k.key, name), problem, fix)
}

func (c *Config) checkProviders(r *report) {
	if len(c.Providers) == 0 && !r.bad["providers"] {
		r.fail("providers", "no provider is given", "name at least one: where the sandboxes run")
	}
	first, rows := map[string]int{}, map[string]string{}
	for i := range c.Providers {
		k := providerCheck{r, &c.Providers[i], fmt.Sprintf("providers[%d]", i)}
		if r.bad[k.key] {
			continue
		}
		k.checkName(first)
		k.checkRows(c, rows)
		k.checkKind()
		k.checkOwns(c.Tasks.None)
		k.checkClass(k.Owns.Except, "except", "excepts")
		k.checkClass(k.Owns.Spares, "spares", "spares")
		k.checkLink(c)
		k.checkHosts()
		k.checkProbe()
		k.checkTwin(c.Providers[:i])
	}
}

// checkTwin warns of an entry that shows the sandboxes of an earlier one: each would be counted
// twice, and ended by either.
func (k providerCheck) checkTwin(earlier []ProviderConfig) {
	at := slices.IndexFunc(earlier, func(p ProviderConfig) bool {
		return p.Kind == k.Kind && p.URL == k.URL && p.Token.Reveal() == k.Token.Reveal() &&
			maps.Equal(p.seenBy(), k.seenBy()) && p.Owns.overlaps(k.Owns)
	})
	if at >= 0 && k.Kind != "simulated" {
		k.warn(k.key, fmt.Sprintf("shows the same sandboxes as %q: each is counted at both", earlier[at].Name),
			"keep one of the two, or tell them apart by owns")
	}
}

func (k providerCheck) checkName(first map[string]int) {
	name := k.Name
	if name == "" {
		k.failAtKey("name", "is not given", "name the provider; the name is shown everywhere")
		return
	}
	if !safeName.MatchString(name) {
		k.failAtKey("name", k.quote(k.key+".name")+" is not a name", safeNameFix)
		return
	}
	if line, twice := first[name]; twice {
		k.failAtKey("name", fmt.Sprintf("%q is also the name of the provider in line %d", name, line), k.ownName())
		return
	}
	first[name] = k.locate(k.key + ".name").line
}

// ownName is what to do about a name that two entries have.
func (k providerCheck) ownName() string {
	if len(k.Each) > 0 || k.EachFile != "" {
		return "write {each} into it"
	}
	return "give each its own"
}

// checkRows refuses what no row can hold, and a word that two entries claim.
func (k providerCheck) checkRows(c *Config, claimed map[string]string) {
	if !k.given(k.key+".rows") || k.unreadable(k.key+".rows") {
		return
	}
	if !c.Tasks.None && c.Mapping().WithPreset().Columns["provider"] == "" {
		k.failAtKey("rows", "no column says where the sandbox of a row is", "map tasks.columns.provider")
	}
	for i, row := range k.Rows {
		key := fmt.Sprintf("rows[%d]", i)
		switch of, twice := claimed[row]; {
		case row == "":
			k.failAtKey(key, "is empty", "write what the rows hold; of rows that hold nothing all entries are asked")
		case twice:
			k.failAtKey(key, fmt.Sprintf("%s is also what rows of %q hold", k.quote(k.key+"."+key), of),
				"give each entry its own, for example with {each} in it")
		default:
			claimed[row] = k.Name
		}
	}
}

func (k providerCheck) checkKind() {
	known := providers.Kinds()
	switch {
	case k.Kind == "":
		k.failAtKey("kind", "is not given", "use one of "+strings.Join(known, ", "))
		return
	case !slices.Contains(known, k.Kind):
		problem, fix := unknownWord("kind", k.raw[k.key+".kind"], known)
		k.failAtKey("kind", problem, fix)
		return
	case !providers.Built(k.Kind):
		k.failAtKey("kind", "this build has no "+k.Kind, "take one that was built without -tags no"+k.Kind)
		return
	}
	for name, kinds := range ownKeys {
		if k.given(k.key+"."+name) && !k.given(k.key+"."+name+"_file") && !slices.Contains(kinds, k.Kind) {
			k.failAtKey(name, "is no key of kind "+k.Kind, k.insteadOf(name))
		}
	}
	if url, _ := providers.KeysOf(k.Kind).Find("url"); k.URL == "" {
		k.URL = url.Default
	}
	k.checkSecret(k.key+".push_secret", k.Secrets["push_secret"])
	k.checkEntry()
}

// checkEntry asks the kind what it has against its keys. What a variable holds is never shown.
func (k providerCheck) checkEntry() {
	e, api := k.entry(), k.key+".api"
	if !k.given(api) {
		e.API = nil
	}
	for _, m := range providers.Check(e) {
		key, inAPI := k.key+"."+m.Key, m.Key == "api" || strings.HasPrefix(m.Key, "api.")
		if inAPI && k.unreadable(api) || k.misspelt(k.key, m.Key, m.Key+"_file") {
			continue
		}
		if m.Shown {
			m.Problem = k.quote(key) + " " + m.Problem
		} else if inAPI && strings.Contains(k.raw[key], "${") {
			m.Problem = k.quote(key) + " does not fit, once its variables are filled in"
		}
		if m.Odd {
			k.warn(key, m.Problem, m.Fix)
		} else {
			k.fail(key, m.Problem, m.Fix)
		}
	}
	for at, values := range k.held {
		if strings.HasPrefix(at, api+".") {
			k.API.Variables = append(k.API.Variables, values...)
		}
	}
}

// insteadOf is what to do about a key of another kind.
func (k providerCheck) insteadOf(key string) string {
	var names []string
	for name, kinds := range ownKeys {
		if slices.Contains(kinds, k.Kind) && !k.given(k.key+"."+name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if near := nearest(key, names); near != "" {
		return text.DidYouMean(near)
	}
	return "remove it"
}

func (k providerCheck) checkLink(c *Config) {
	kind, label, _ := strings.Cut(k.Link.Sandbox, ":")
	switch {
	case k.Link.Sandbox == "", k.Link.Sandbox == "id", k.Link.Sandbox == "name":
	case kind == "label" && label != "":
	default:
		k.failAtKey("link.sandbox", k.quote(k.key+".link.sandbox")+" is not one of id, name, label:KEY",
			"say what tasks.sandbox holds")
	}
	if c.Tasks.None || k.bad["tasks"] || k.bad[k.key+".link.task_label"] || k.bad[k.key+".link.sandbox"] {
		return
	}
	if k.Link.Sandbox != "" && c.Mapping().WithPreset().Columns["sandbox"] == "" {
		k.failAtKey("link.sandbox", "is compared with a column that is not mapped", "map tasks.columns.sandbox")
	}
	misspelt := k.misspelt(k.key, "link") || k.misspelt(k.key+".link", "task_label", "sandbox")
	if k.Link.TaskLabel == "" && k.Link.Sandbox == "" && !misspelt {
		k.failAtKey("link", "nothing says which sandbox is of which task",
			"give task_label: the label with the task's id, or sandbox: what tasks.sandbox holds")
	}
}

// callsURLAlone are the kinds that ask nothing but their url, so that hosts would be for nothing.
var callsURLAlone = []string{"docker", "kubernetes", "simulated"}

// checkHosts refuses what is no host, and what stands for all hosts of somebody else, as *.com does. An empty list
// adds none, as if it was not given.
func (k providerCheck) checkHosts() {
	if len(k.Hosts) > 0 && slices.Contains(callsURLAlone, k.Kind) {
		k.failAtKey("hosts", "is for nothing: "+k.Kind+" asks nothing but its own address", "remove it")
	}
	for i, host := range k.Hosts {
		key := fmt.Sprintf("%s.hosts[%d]", k.key, i)
		below, wild := strings.CutPrefix(host, "*.")
		_, notAddress := netip.ParseAddr(host)
		switch {
		case notAddress != nil && !hostName.MatchString(below):
			k.fail(key, k.quote(key)+" is not a host", "write it like api.example.com or *.example.com, without scheme and port")
		case wild && !strings.Contains(strings.Trim(below, "."), "."):
			k.fail(key, k.quote(key)+" stands for hosts of anybody", "write more of the name, like *.sandboxes.example.com")
		}
	}
}

func (k providerCheck) checkProbe() {
	p := k.Probe
	if p.Off {
		return
	}
	if p.Exec == "" && p.Path == "" {
		k.failAtKey("probe", "probes nothing", "give exec or path, or write probe: off")
	}
	if p.Budget.PerMinute() < 1 {
		k.failAtKey("probe.budget", "is less than one in a minute", "use at least 1/m")
	}
	if p.Timeout >= p.Every {
		k.failAtKey("probe.timeout", "is not shorter than every", "use a shorter one")
	}
	k.checkProbeWorker()
}

// findsItself are ways to look for a process by its whole command line. The shell that runs the
// command has the pattern in its own.
var findsItself = regexp.MustCompile(`\bpgrep\b.*\s(-\w*f|--full\b)`)

func (k providerCheck) checkProbeWorker() {
	p := k.Probe
	switch why := k.runsNothing(); {
	case p.Worker == "":
	case why != "":
		k.failAtKey("probe.worker", "nothing can run a command: "+why, "give it, or remove worker")
	case findsItself.MatchString(p.Worker) && !strings.Contains(p.Worker, "["):
		k.warn(k.key+".probe.worker", "pgrep -f finds the shell that runs it, so that no worker would ever be dead",
			"put one letter into brackets, as in pgrep -f '[w]orker.py'")
	}
}

// runsNothing is why no command can be run in a sandbox, as the entry is configured.
func (k providerCheck) runsNothing() string {
	switch {
	case k.Kind == "generic" && k.given(k.key+".api") && !k.given(k.key+".api.exec"):
		return "api.exec is not described"
	case k.Kind == "cloudflare" && k.Extra["worker_url"] == "":
		return "worker_url is not given"
	}
	return ""
}
