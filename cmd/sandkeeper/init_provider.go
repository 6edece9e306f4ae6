package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/store/tasks/propose"
)

// proposable are the kinds that an entry is proposed for: generic is described by hand, and simulated is none.
func proposable() []string {
	return slices.DeleteFunc(providers.Kinds(), func(kind string) bool {
		return kind == "generic" || kind == "simulated" || !providers.Built(kind)
	})
}

// ownedBy are the proofs and links that a kind may know, the best first: a label tells whose a sandbox is and which
// task's, a name only the first, and a row can be written by many.
func (f *initFlags) ownedBy(p *propose.Proposal) [][]string {
	label := fmt.Sprintf("owns: {labels: {sandkeeper: %s}}  # ? a label that your sandboxes carry and no other's do; "+
		"until it fits, "+
		"nothing is yours and nothing is touched", f.installation)
	prefix := fmt.Sprintf("owns: {name_prefix: %s-}  # ? how the names of your sandboxes begin; "+
		"until it fits, nothing is yours "+
		"and nothing is touched", f.installation)
	row := "owns: {referenced: true}  # ? yours is what a row names; a mark on the sandbox itself proves more"
	byLabel := "link: {task_label: task_id}  # ? the label of a sandbox that holds the id of its task"
	byRow := fmt.Sprintf("link: {sandbox: %s}  # ? what %s holds: id, name or label:KEY", p.SandboxHolds(), p.Sandbox())
	if p.None != "" {
		return [][]string{{label}, {prefix}}
	}
	if known := f.ofPreset(p.Preset.Value); known != nil {
		return [][]string{known, {label, byRow}, {prefix, byRow}, {row, byRow}}
	}
	if p.Sandbox() == "" {
		return [][]string{{label, byLabel}, {prefix, byLabel}, {prefix}}
	}
	return [][]string{{label, byRow}, {prefix, byRow}, {row, byRow}}
}

// ofPreset are the proof and the link that a platform itself makes; nil where it is not known for one.
func (f *initFlags) ofPreset(name string) []string {
	cluster := f.provider == "kubernetes"
	switch {
	case name == "kortix":
		return []string{"owns: {labels: {kortix.managed: \"true\", kortix.env: prod}}  # ? the platform's own labels: put " +
			"the env of this database; a laptop's boxes carry kortix.instance too, and are to have an env of their own",
			"link: {sandbox: id}  # external_id is the provider's id"}
	case name == "triggerdev" && cluster:
		return []string{"owns: {labels: {app: task-run}}  # ? the platform's own label; add exclusive: true if no other " +
			"installation runs in this namespace", "link: {sandbox: name}  # runnerId is the name of the Pod"}
	case name == "triggerdev":
		return []string{"owns: {name_prefix: runner-}  # ? how the platform names its runners; until it fits, nothing is " +
			"touched",
			"link: {sandbox: name}  # runnerId is the name of the container"}
	case name == "prefect" && cluster:
		return []string{"owns: {labels: {prefect.io/work-pool-name: default}}  # ? the platform's own label: put the name " +
			"of your work pool; until it fits, nothing is yours and nothing is touched",
			"link: {task_label: prefect.io/flow-run-id}  # the platform's own label"}
	case name == "openhands" && f.provider == "docker":
		return []string{"owns: {name_prefix: oh-agent-server-}  # ? how the platform names its sandboxes; until it fits, " +
			"nothing is touched", "link: {sandbox: name}  # sandbox_id is the name of the container"}
	}
	switch name {
	case "omoios":
		return []string{"owns: {labels: {project: omoios}}  # ? the platform's own label; add exclusive: true if no " +
			"other environment of yours makes sandboxes with it in this account",
			"link: {task_label: task_id}  # the platform's own label; its rows hold names of its own"}
	case "coding-agent":
		return []string{"owns: {referenced: true}  # ? yours is what a row names; tag the sandboxes, as " +
			"{owner: coding-agent}, for a proof that rows do not give",
			"link: {task_label: task_id, sandbox: id}  # ? the tag that holds the id of the task, where you set one; " +
				"else what the rows hold"}
	}
	return nil
}

// entries are the entries to try, the best first.
func (f *initFlags) entries(p *propose.Proposal) (out []string) {
	for _, owned := range f.ownedBy(p) {
		lines := []string{"- name: " + f.provider, "  kind: " + f.provider}
		if f.providerURL != "" {
			lines = append(lines, fmt.Sprintf("  url: %q", strings.ReplaceAll(f.providerURL, "${", "$${")))
		}
		for _, key := range f.keys() {
			lines = append(lines, fmt.Sprintf("  %s: ${%s}", key, strings.ToUpper(f.provider+"_"+key)))
		}
		for _, line := range owned {
			lines = append(lines, "  "+line)
		}
		out = append(out, "  "+strings.Join(lines, "\n  "))
	}
	return out
}

// keys are those that an entry of the kind may not lack.
func (f *initFlags) keys() (out []string) {
	for _, key := range providers.KeysOf(f.provider) {
		if key.Required != "" && key.Name != "url" {
			out = append(out, key.Name)
		}
	}
	if f.provider == "cloudflare" { // either half may lack, not both: this is the one with an account's rights
		out = append(out, "token", "account", "application")
	}
	return out
}
