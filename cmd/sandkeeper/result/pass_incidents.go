package result

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// incidentsText shows each incident as one thing, however many failures it has: what it is,
// and what was done or is held of its steps.
func incidentsText(b *bytes.Buffer, p console.Paint, r Pass) {
	var ids []string
	reasons, found := map[string]string{}, map[string]int{}
	for _, f := range r.Findings {
		switch {
		case f.Incident == "":
			continue
		case f.Rule == "systemic":
			reasons[f.Incident] = f.Reason
		default:
			found[f.Incident]++
		}
		if !slices.Contains(ids, f.Incident) {
			ids = append(ids, f.Incident)
		}
	}
	for _, id := range ids {
		fmt.Fprintf(b, "%s %s  %s\n", p.Red("incident"), id, p.Dim(console.Plural(found[id], "finding")+" now"))
		if reasons[id] != "" {
			fmt.Fprintf(b, "    %s\n", text.Line(reasons[id]))
		}
		for _, line := range stepGroups(p, r.Steps, id) {
			fmt.Fprintf(b, "    %s\n", line)
		}
		fmt.Fprintf(b, "    its tasks: sandkeeper affected %s; "+
			"let go what it holds: sandkeeper release incident:%s\n", id, id)
	}
}

// stepGroups counts the steps of an incident that came to the same.
func stepGroups(p console.Paint, steps []Step, id string) []string {
	var order []string
	count := map[string]int{}
	for _, s := range steps {
		if s.Incident != id {
			continue
		}
		key := fmt.Sprintf("%s %s, %s", outcome(p, s), s.Step, s.Rule)
		if len(s.HeldBy) > 0 {
			key += ", by " + s.HeldBy[0].Label()
		}
		if count[key] == 0 {
			order = append(order, key)
		}
		count[key]++
	}
	for i, key := range order {
		order[i] = fmt.Sprintf("%d× %s", count[key], key)
	}
	return order
}
