package generic

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/entry"
)

// Check is all that is wrong with the keys of an entry, its description compiled.
func Check(e entry.Entry) []entry.Mistake {
	out := Keys.Check(e)
	if e.API == nil {
		return append(out, entry.Mistake{Key: "api", Fix: "describe its API; docs/generic.md shows how",
			Problem: "is not given; kind generic knows nothing of the platform by itself"})
	}
	_, mistakes := compile(e.API)
	out = append(out, mistakes...)
	if e.Token == "" && usesToken(e.API) {
		out = append(out, entry.Mistake{Key: "token", Problem: "is empty, and headers in api need it",
			Fix: "give token or token_file"})
	}
	return append(out, undescribed(e)...)
}

// undescribed is what whose and which task's a sandbox is goes by, and the description does not tell.
func undescribed(e entry.Entry) (out []entry.Mistake) {
	in, byLabel := e.API.Sandbox, strings.HasPrefix(e.Link.Sandbox, "label:")
	for _, u := range []struct {
		key, needs string
		lacks      bool
		so         string
	}{
		{"owns.labels", "labels", len(e.Owns.Labels) > 0 && in.Labels == "", "no sandbox will be owned"},
		{"owns.name_prefix", "name", e.Owns.NamePrefix != "" && in.Name == "", "no sandbox will be owned"},
		{"link.task_label", "labels", e.Link.TaskLabel != "" && in.Labels == "", "no sandbox will name its task"},
		{"link.sandbox", "labels", byLabel && in.Labels == "", "no row will lead to a sandbox"},
		{"link.sandbox", "name", e.Link.Sandbox == "name" && in.Name == "", "no row will lead to a sandbox"},
	} {
		if u.lacks {
			out = append(out, entry.Mistake{Key: u.key, Odd: true,
				Problem: u.so + ": it goes by api.sandbox." + u.needs + ", which is not given",
				Fix:     "say in api.sandbox." + u.needs + " where they are"})
		}
	}
	return out
}

// usesToken reports whether any header stands for the credential.
func usesToken(a *entry.API) bool {
	all := []map[string]string{a.Headers}
	for _, call := range a.Calls() {
		all = append(all, call.Headers)
	}
	for _, headers := range all {
		for _, value := range headers {
			if strings.Contains(value, "{token") {
				return true
			}
		}
	}
	return false
}
