package config

import (
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/providers/generic"
)

// describedKinds speak what their entry describes in api.
var describedKinds = []string{"generic"}

// api is the description of the platform's API, where the kind has one.
func (p ProviderConfig) api() *providers.API {
	if !slices.Contains(describedKinds, p.Kind) {
		return nil
	}
	return &p.API
}

// checkAPI compiles the description, so that a mistake in an expression shows now and not
// at the first call. What a variable holds is never shown.
func (k providerCheck) checkAPI() {
	key := k.key + ".api"
	if k.api() == nil {
		if k.given(key) {
			k.fail(key, "is no key of kind "+k.Kind, "remove it")
		}
		return
	}
	if !k.given(key) {
		k.fail(key, "is not given; kind generic knows nothing of the platform by itself",
			"describe its API; docs/generic.md shows how")
		return
	}
	if k.unreadable(key) {
		return
	}
	for _, m := range generic.Mistakes(&k.API) {
		problem := m.Problem
		if strings.Contains(k.raw[key+"."+m.Key], "${") {
			problem = k.quote(key+"."+m.Key) + " does not fit, once its variables are filled in"
		}
		k.fail(key+"."+m.Key, problem, m.Fix)
	}
	for at, values := range k.held {
		if strings.HasPrefix(at, key+".") {
			k.API.Variables = append(k.API.Variables, values...)
		}
	}
	if k.Token.Empty() && usesToken(k.API) {
		k.failAtKey("token", "is empty, and headers in api need it", "give token or token_file")
	}
	k.checkDescribed()
}

// checkDescribed warns of what whose and which task's a sandbox is goes by, and the description
// does not tell.
func (k providerCheck) checkDescribed() {
	in, byLabel := k.API.Sandbox, strings.HasPrefix(k.Link.Sandbox, "label:")
	for _, u := range []struct {
		key, needs string
		lacks      bool
		so         string
	}{
		{"owns.labels", "labels", len(k.Owns.Labels) > 0 && in.Labels == "", "no sandbox will be owned"},
		{"owns.name_prefix", "name", k.Owns.NamePrefix != "" && in.Name == "", "no sandbox will be owned"},
		{"link.task_label", "labels", k.Link.TaskLabel != "" && in.Labels == "", "no sandbox will name its task"},
		{"link.sandbox", "labels", byLabel && in.Labels == "", "no row will lead to a sandbox"},
		{"link.sandbox", "name", k.Link.Sandbox == "name" && in.Name == "", "no row will lead to a sandbox"},
	} {
		if u.lacks {
			k.warn(k.key+"."+u.key, u.so+": it goes by api.sandbox."+u.needs+", which is not given",
				"say in api.sandbox."+u.needs+" where they are")
		}
	}
}

// usesToken reports whether any header stands for the credential.
func usesToken(a providers.API) bool {
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
