package config

import (
	"fmt"
	"strings"
)

// overlaps reports whether one sandbox can be proven by both.
func (o OwnsConfig) overlaps(p OwnsConfig) bool {
	if o.Except.all(p) || p.Except.all(o) {
		return false
	}
	for label, value := range o.Labels {
		if other, both := p.Labels[label]; both && other != value {
			return false
		}
	}
	return strings.HasPrefix(o.NamePrefix, p.NamePrefix) || strings.HasPrefix(p.NamePrefix, o.NamePrefix)
}

func (k providerCheck) checkOwns(noTasks bool) {
	o := k.Owns
	for label, value := range o.Labels {
		if value == "" || label == "" {
			k.fail(joinKey(k.key+".owns.labels", label), "an empty label proves nothing: strangers may have it too",
				"give it a value that only this installation uses")
		}
	}
	if o.Referenced && noTasks {
		k.failAtKey("owns.referenced", "no task row refers to anything with tasks: none", "use labels or name_prefix")
	}
	misspelt := k.misspelt(k.key, "owns") || k.misspelt(k.key+".owns", "labels", "name_prefix", "referenced")
	if len(o.Labels) == 0 && o.NamePrefix == "" && !o.Referenced && !k.bad[k.key+".owns.labels"] && !misspelt {
		k.failAtKey("owns", "nothing proves which sandboxes are this installation's, "+
			"and a sandbox that is not must never be touched",
			"give labels, name_prefix or referenced: true")
	}
	if o.Referenced && k.Link.Sandbox == "" && !noTasks {
		k.warn(k.key+".owns.referenced",
			"no sandbox will be owned: rows refer to sandboxes by link.sandbox, which is not given",
			"give link: {sandbox: id}")
	}
	if o.byRowOnly() && k.Link.Sandbox != "" && !noTasks {
		k.warn(k.key+".owns.referenced",
			"only rows prove which sandboxes are ours: whoever may write task rows can forge that",
			"mark sandboxes when they are made, and give owns: {labels: {owner: …}} or {name_prefix: …} instead")
	}
}

// byRowOnly reports whether nothing but a row proves anything.
func (o OwnsConfig) byRowOnly() bool { return o.Referenced && len(o.Labels) == 0 && o.NamePrefix == "" }

// all reports whether everything that owns proves is of the class. Which labels it has besides is not known.
func (x ClassConfig) all(owns OwnsConfig) bool {
	x.WithoutLabel = ""
	return x.entry().Holds(owns.NamePrefix, owns.Labels)
}

// checkClass refuses a class that nothing is of, which would leave to us what the operator wanted to keep from us, and
// one that everything is of. does is what it is for: "excepts".
func (k providerCheck) checkClass(x ClassConfig, name, does string) {
	key := k.key + ".owns." + name
	for label, value := range x.Labels {
		if value == "" || label == "" {
			k.fail(joinKey(key+".labels", label), "an empty label "+does+" nothing",
				"give it the value that such sandboxes have")
		}
	}
	for i, template := range x.Templates {
		if template == "" {
			k.fail(fmt.Sprintf("%s.templates[%d]", key, i), "is empty", "name the template, or remove it")
		}
	}
	parts := []string{"labels", "without_label", "name_prefix", "templates"}
	bad := k.bad[key]
	for _, part := range parts {
		bad = bad || k.bad[key+"."+part]
	}
	if bad || !k.given(key) || k.misspelt(key, parts...) {
		return
	}
	if x.entry().Empty() {
		k.fail(key, does+" nothing", "give labels, without_label, name_prefix or templates, or remove it")
	}
	if x.all(k.Owns) {
		k.fail(key, does+" everything that owns proves", "make it less")
	}
}
