package tasks

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// mostUnplaced is how many engines without an entry are named.
const mostUnplaced = 5

// entries looks whether the config has an entry for each engine that live rows name.
func (c *check) entries(rows *reconcile.Rows) {
	const what = "tasks.columns.provider"
	if c.plan.columns["provider"] == "" || len(c.plan.mapping.Entries) == 0 {
		return
	}
	unplaced, example, at, none := map[string]int{}, map[string]string{}, map[string]bool{}, 0
	for i := range rows.Tasks {
		switch t := &rows.Tasks[i]; {
		case t.Provider == "":
			none++
		case c.plan.entries.names[t.Provider]:
			at[t.Provider] = true
		default:
			unplaced[t.Provider]++
			example[t.Provider] = t.ID
		}
	}
	if len(unplaced) == 0 {
		said := fmt.Sprintf("live tasks are at %d of %d entries", len(at), len(c.plan.mapping.Entries))
		if none > 0 {
			said += fmt.Sprintf("; %d name none and are looked for at all", none)
		}
		c.ok(what, said)
		return
	}
	var said []string
	names := reconcile.SortedKeys(unplaced)
	for _, name := range names[:min(len(names), mostUnplaced)] {
		said = append(said, fmt.Sprintf("%q (%d, as %s)", named(name), unplaced[name], named(example[name])))
	}
	if more := len(names) - mostUnplaced; more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	c.warn(what, fmt.Sprintf("no entry is for %s: what is found of these tasks is held", strings.Join(said, ", ")),
		fmt.Sprintf("add an entry, or write `rows: [%q]` at the one that is meant", named(names[0])))
}
