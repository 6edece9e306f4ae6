package config

import (
	"maps"
	"net/url"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

var cloudflareKeys = []string{"account", "application", "worker_url", "instance_api"}

// checkWorker checks the two halves that kind cloudflare has, of which one is enough. The
// keys of the Worker's credential are no key of any other kind.
func (k providerCheck) checkWorker() {
	if k.Kind != "cloudflare" {
		for _, name := range []string{"worker_token", "worker_token_file"} {
			if k.given(k.key + "." + name) {
				k.failAtKey(name, "is no key of kind "+k.Kind, "remove it")
			}
		}
		return
	}
	k.checkControl()
	address := k.Extra["worker_url"]
	switch {
	case address == "" && !k.WorkerToken.Empty():
		k.failAtKey("worker_url", "is not given, and worker_token is for nothing else",
			"give the address of the Worker's admin API")
	case address == "":
		return
	case k.WorkerToken.Empty() && !k.bad[k.key+".worker_token"]:
		k.failAtKey("worker_token", "is empty; the Worker must not end sandboxes for everybody",
			"give worker_token or worker_token_file")
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		k.failAtKey("worker_url", "is not an address of https or http", "write it like https://host/api/sandbox")
		return
	}
	if u.User != nil || u.RawQuery != "" {
		k.failAtKey("worker_url", "holds more than an address", "put the credential into worker_token")
	}
	if u.Scheme == "http" && !text.Loopback(u.Hostname()) {
		k.warn(k.key+".worker_url", "the token goes over the network unencrypted", "use https")
	}
}

// checkControl checks what the control plane needs besides its token.
func (k providerCheck) checkControl() {
	if k.Token.Empty() && k.Extra["worker_url"] == "" && !k.bad[k.key+".token"] {
		k.failAtKey("token", "is empty, and no Worker is given either",
			"give token, account and application for the control plane, or worker_url and worker_token, or all")
	}
	for _, name := range []string{"account", "application"} {
		if !k.Token.Empty() && k.Extra[name] == "" && !k.bad[k.key+"."+name] {
			k.failAtKey(name, "is not given; the control plane needs it", "`npx wrangler containers list` shows the ids")
		}
	}
	if on := k.Extra["instance_api"]; on != "" && on != "true" && on != "false" {
		k.failAtKey("instance_api", k.quote(k.key+".instance_api")+" is neither", `write "true" or "false"`)
	}
}

// extra are the keys of the kind's own, with the Worker's credential.
func (p ProviderConfig) extra() map[string]string {
	extra := maps.Clone(p.Extra)
	if !p.WorkerToken.Empty() {
		if extra == nil {
			extra = map[string]string{}
		}
		extra["worker_token"] = p.WorkerToken.Reveal()
	}
	return extra
}
