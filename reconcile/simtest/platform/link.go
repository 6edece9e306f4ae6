package platform

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
)

// linkOf is how rows and sandboxes of the platform know each other at a provider: as wanted, as
// far as the platform's rows can hold it.
func (k kind) linkOf(wanted string) string {
	if k.link == "both" || k.link == "id" && wanted == "name" {
		return wanted
	}
	return k.link
}

// link settles it: id, name, label, both (id and label), named (name and label), or none.
func (c *cloud) link(how string) {
	c.byID, c.byName = how == "id" || how == "both", how == "name" || how == "named"
	c.byLabel = how == "label" || how == "both" || how == "named"
}

// prefix is how the names of our sandboxes begin where that is the proof that they are ours.
const prefix = "app-"

// entryOf is what the config says of the account.
func (c *cloud) entryOf(a *args) entry.Entry {
	e := entry.Entry{Name: c.name, Kind: "simulated", Timeout: 10 * time.Second}
	e.Owns.Exclusive = a.yes("exclusive")
	switch a.text("owns", "labels") {
	case "prefix":
		e.Owns.NamePrefix = prefix
	case "rows":
		e.Owns.Referenced = true
	default:
		e.Owns.Labels = map[string]string{labelOwner: "ours"}
	}
	if c.byLabel {
		e.Link.TaskLabel = labelTask
	}
	switch {
	case c.byID:
		e.Link.Sandbox = "id"
	case c.byName:
		e.Link.Sandbox = "name"
	}
	return e
}

// keyOf is what rows name a sandbox by.
func (c *cloud) keyOf(b *box) string {
	if c.byName {
		return b.name
	}
	return b.ref.ID
}

// names reports whether a row names the sandbox by its own word. Where names last, rows may hold
// an id or a name, whichever the link says.
func (r *row) names(b *box) bool {
	c := b.cloud
	switch r.Sandbox {
	case "":
		return false
	case b.ref.ID:
		return c.byID || c.byName
	case b.name:
		return c.byName || c.byID && c.lasting
	}
	return false
}

// boxName is the name that the platform gives the sandbox of a task's present attempt: where the
// task has one for all of its attempts, or names last, the same again.
func (t fleet) boxName(k *task) string {
	c := t.cloud(k.cloud)
	name := cmp.Or(k.name, "w-"+k.id)
	switch {
	case k.name != "" || c.lasting:
	case c.byName: // rows may hold it before there is one
		name = fmt.Sprintf("%s-a%d", k.id, k.attempt)
	default:
		name = fmt.Sprintf("%s-a%d-%d", k.id, k.attempt, len(t.boxes))
	}
	return c.entry.Owns.NamePrefix + name
}

// nameless is the name of a sandbox that no task of ours is known for.
func (t fleet) nameless(c *cloud, o owner) string {
	name := fmt.Sprintf("%s-%d", o, len(t.boxes))
	if o == foreign || c.entry.Owns.NamePrefix == "" {
		return name
	}
	return c.entry.Owns.NamePrefix + name
}
