package providers

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

//go:generate go test -run ^TestGuideIsUpToDate$ . -update-guide

// Guide is docs/providers.md: what each kind can do, as the adapters' types and their
// abilities say it, and what an operator should know of each.
func Guide() string {
	var b strings.Builder
	b.WriteString(`<!-- Written by go generate ./providers from the adapters; do not edit. -->
# Providers

What each kind of provider can do. The table is made from the adapters, and the conformance suite
(` + "`providers/providertest`" + `) tests against a simulator of each what can be tested there. A dash means
that the adapter cannot, and says so: a rule or a remedy that needs it does not act there.

`)
	writeTable(&b)
	b.WriteString(everyEntry)
	for _, a := range adapters {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", a.kind, strings.TrimSpace(a.guide))
	}
	return b.String()
}

// everyEntry are the keys of an entry that need more than a line, whatever its kind.
const everyEntry = `
## Keys of every entry

` + "`owns: {except: {labels: {…}, without_label: …, name_prefix: …, templates: […]}}`" + ` names what is
never ours although labels, a name or a row say so, such as gateways, builders and sandboxes of what is
no task. Each of the four is enough; of several labels all must hold. Templates are named as the page
shows them, or by their id. What a provider does not say of a sandbox excepts nothing, save
` + "`without_label`" + `, which is for accounts where all that are yours have a label.

` + "`owns: {spares: {…}}`" + `, with the same parts, names what is yours and has no task until one takes it: a
warm pool. ` + "`orphan`" + ` leaves a spare alone as long as no label of it names a task; rows that explain
spares are ` + "`tasks.explained_by`" + `.

` + "`link: {required: true}`" + ` says that each sandbox of ours has the link: the label of
` + "`task_label`" + `, or a row that names it. Without it a sandbox that names no task, and that no row
names, is only reported: many platforms also run gateways, builders and sandboxes of things that are
no task.

` + "`at_rest: terminate`" + ` lets what is stopped, paused or suspended be ended like what runs. The default is
` + "`keep`" + `: at many platforms a sandbox at rest is the normal state, and it holds the user's files.

` + "`hosts: [sandboxes.example.com, \"*.sandboxes.example.com\"]`" + ` are the hosts that requests of the
entry may go to, with the credential or without: names or addresses without scheme and port, where
` + "`*.`" + ` is all that is below a name. Those of ` + "`url`" + ` and of the kind's own addresses are
always among them. Without it the vendor's count:
` + "`*.daytona.io`" + `; ` + "`*.e2b.app`, `*.e2b.dev`, `*.e2b.pro`, `*.e2b-staging.dev`" + `
or what is below ` + "`domain`" + `; ` + "`*.agentuity.com`, `*.agentuity.cloud`, `*.agentuity.io`" + `;
none for the others, whose ` + "`url`" + ` is enough. What an API
names beyond that, as the address of a sandbox's toolbox or of what it printed, is not asked, and the error says
which host it was. So list the hosts of the sandboxes where you run the platform yourself, and with
` + "`{endpoint}`" + ` of generic. A host that the entry does not name is not connected to at an address of this machine
or of a private network, as its name may resolve to one at any time; ` + "`url`, `hosts`" + ` and a proxy of the
environment (HTTPS_PROXY) may be there. Docker and Kubernetes ask their own address alone.

` + "`remedy: quarantine`" + ` of a rule, and ` + "`remedy: terminate`" + ` where somebody wrote it, are refused
when the config is read if one of the providers cannot do it as it is configured: what the rule finds there
would be held for ever. Where one of several cannot stop or pause, ` + "`quarantine: hold`" + ` at its entry says
that this is meant.

` + "`probe: {worker: …}`" + ` is a command that is run in a sandbox which answered its probe, and tells by its
exit code whether the task's own worker is there: 0 it is, 1 it is not, anything else (or no answer)
says nothing. It is run by a shell, so that ` + "`pgrep -f worker.py`" + ` would find itself: write
` + "`pgrep -f '[w]orker.py'`" + `. Where the provider gives no exit code, nothing is known of the worker.
One that is gone settles ` + "`heartbeat-lost`, `inactive` and `assigned-stale`" + `, one that is there vetoes
them, each for two full passes. ` + "`sandkeeper check`" + ` proposes a command for the presets
` + "`omoios` and `coding-agent`" + `.

Where a provider has its own record of how a sandbox ended, that is read of what is seen to be over, and
of what had a task. It is proof of another kind than that nothing is found: ` + "`sandbox-missing`" + ` then
needs no second look, and ` + "`assigned-stale`" + ` no time. A record counts of one run, by the age that the
provider's clock gives it: not from before the sandbox came back, nor from before the task was handed
out. That there is none says nothing. It is in the reason, in the evidence, and what failures of one
incident are grouped by.
`

// A trait is one row of the table.
type trait struct {
	group, name string
	of          func(adapter) string
}

func writeTable(b *strings.Builder) {
	b.WriteString("| |")
	for _, a := range adapters {
		b.WriteString(" " + a.kind + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(adapters)) + "\n")
	group := ""
	for _, t := range traits {
		if t.group != group {
			group = t.group
			fmt.Fprintf(b, "| **%s** |%s\n", group, strings.Repeat(" |", len(adapters)))
		}
		fmt.Fprintf(b, "| %s |", t.name)
		for _, a := range adapters {
			fmt.Fprintf(b, " %s |", strings.ReplaceAll(t.of(a), "|", "\\|"))
		}
		b.WriteString("\n")
	}
}

// traits are the rows of the table, in order.
var traits = []trait{
	{"Listing", "labels, tags or metadata of each sandbox", is(func(a wire.Abilities) bool { return a.Labels })},
	{"Listing", "the provider is asked for our labels only", is(func(a wire.Abilities) bool { return a.Filter })},
	{"Listing", "find the sandboxes of a task", is(func(a wire.Abilities) bool { return a.Labels })},
	{"Listing", "the template of each sandbox", is(func(a wire.Abilities) bool { return a.Template })},
	{"Listing", "how large each sandbox is", is(func(a wire.Abilities) bool { return a.Sizes })},
	{"Listing", "sandboxes on a page", says(pageSize)},
	{"Listing", "in the order of creation", is(func(a wire.Abilities) bool { return a.OldestFirst })},
	{"Listing", "what is hidden after a delete", is(func(a wire.Abilities) bool { return a.Hides })},
	{"Listing", "a name in place of an id is no end", is(func(a wire.Abilities) bool { return a.NameMayBeID })},
	{"Listing", "the provider's own clock", is(func(a wire.Abilities) bool { return !a.Undated })},
	{"Listing", "states told apart", says(func(a wire.Abilities) string { return words(a.States) })},
	{"Listing", "may lack or show late", says(func(a wire.Abilities) string { return a.Lags })},
	{"Listing", "shows what is made within", says(indexLag)},
	{"Ending", "sandboxes can be ended", is(func(a wire.Abilities) bool { return !a.ReadOnly })},
	{"Ending", "the end", says(ending)},
	{"Ending", "the provider compares before it deletes", is(func(a wire.Abilities) bool { return a.CompareAndDelete })},
	{"Ending", "may be refused as busy", is(func(a wire.Abilities) bool { return a.Busy })},
	{"Ending", "what ended stays on record", is(func(a wire.Abilities) bool { return a.StaysOnRecord })},
	{"Quarantine", "suspend and resume", says(func(a wire.Abilities) string { return a.Suspends })},
	{"Quarantine", "a stop deletes some: refused", is(func(a wire.Abilities) bool { return a.StopMayDelete })},
	{"Probes", "run a command", is(func(a wire.Abilities) bool { return a.Exec })},
	{"Probes", "list files", is(func(a wire.Abilities) bool { return a.Files })},
	{"Probes", "counts as activity", is(func(a wire.Abilities) bool { return a.ProbeIsActivity })},
	{"Probes", "one failing half counts when it fails twice", is(func(a wire.Abilities) bool { return a.ProbeTwice })},
	{"Probes", "executions left behind in a broken sandbox", says(leftoverExecs)},
	{"Probes", "executions that wait are seen", implements[reconcile.Executions]},
	{"Evidence", "looks that are independent of each other", says(func(a wire.Abilities) string { return a.Looks })},
	{"Evidence", "these are a get and a listing", is(func(a wire.Abilities) bool { return a.TwoStores })},
	{"Evidence", "its own record of an end", says(func(a wire.Abilities) string { return a.Deaths })},
	{"Evidence", "logs", implements[reconcile.Logs]},
	{"Evidence", "CPU and memory", implements[reconcile.Usage]},
	{"Account", "templates watched, in the states",
		says(func(a wire.Abilities) string { return words(a.TemplateStates) })},
	{"Account", "warns before a template is inactive", is(func(a wire.Abilities) bool { return a.TemplateExpires })},
	{"Account", "canaries can be planted", is(func(a wire.Abilities) bool { return a.Plants > 0 })},
	{"Account", "quotas", implements[reconcile.Quotas]},
	{"Account", "lines in `sandkeeper check`", implements[reconcile.Checker]},
}

const (
	yes = "yes"
	no  = "–"
)

func indexLag(a wire.Abilities) string {
	if a.IndexLag == 0 {
		return ""
	}
	return text.Duration(a.IndexLag)
}

func is(fact func(wire.Abilities) bool) func(adapter) string {
	return func(a adapter) string {
		if fact(a.can) {
			return yes
		}
		return no
	}
}

func says(fact func(wire.Abilities) string) func(adapter) string {
	return func(a adapter) string {
		if text := fact(a.can); text != "" {
			return text
		}
		return no
	}
}

func implements[I any](a adapter) string {
	if _, ok := a.none.(I); ok {
		return yes
	}
	return no
}

func words[S ~string](states []S) string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}

func pageSize(a wire.Abilities) string {
	if a.PageSize == 0 {
		return "all at once"
	}
	return fmt.Sprint(a.PageSize)
}

func ending(a wire.Abilities) string {
	switch {
	case a.ReadOnly:
		return ""
	case a.EndsAtOnce:
		return "at once"
	}
	return "accepted, gone later"
}

func leftoverExecs(a wire.Abilities) string {
	if a.LeftoverExecs == 0 {
		return "none"
	}
	return fmt.Sprintf("at most %d", a.LeftoverExecs)
}
