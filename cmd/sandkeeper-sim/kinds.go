package main

import (
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/generic/generictest"
	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
)

// A kind is a provider whose protocol is spoken.
type kind struct {
	name  string // as a config of sandkeeper names it
	title string
	base  string             // what comes before the paths of its API
	ids   func(n int) string // in its own form; nil: UUIDs
	speak func(world, settings) http.Handler
}

// A world is the sandboxes behind a protocol.
type world = *simulated.World

// kinds are all that there is a simulator of.
func kinds() []kind {
	return []kind{
		{name: "agentuity", title: "Agentuity", ids: agentuitytest.IDs,
			speak: func(w world, s settings) http.Handler {
				return agentuitytest.New(w, agentuitytest.Options{Key: s.key})
			}},
		{name: "cloudflare", title: "Cloudflare", ids: cloudflaretest.ObjectIDs,
			speak: func(w world, s settings) http.Handler {
				return cloudflaretest.New(w, cloudflaretest.Options{Key: s.key, WorkerToken: s.key, InstanceAPI: true})
			}},
		{name: "daytona", title: "Daytona", base: "/api",
			speak: func(w world, s settings) http.Handler {
				return daytonatest.New(w, daytonatest.Options{Key: s.key, TaskLabel: s.label})
			}},
		{name: "docker", title: "the Docker engine", ids: dockertest.IDs,
			speak: func(w world, s settings) http.Handler {
				return dockertest.New(w, dockertest.Options{TaskLabel: s.label})
			}},
		{name: "e2b", title: "E2B", ids: e2btest.ID,
			speak: func(w world, s settings) http.Handler {
				return e2btest.New(w, e2btest.Options{Key: s.key, TaskLabel: s.label})
			}},
		{name: "generic", title: "the platform of deploy/examples/generic-boxyard.yaml",
			speak: func(w world, s settings) http.Handler {
				return generictest.New(w, generictest.Options{Key: s.key})
			}},
		{name: "kubernetes", title: "Kubernetes", ids: kubernetestest.IDs("pod"),
			speak: func(w world, s settings) http.Handler {
				return kubernetestest.New(w, kubernetestest.Options{Key: s.key, TaskLabel: s.label})
			}},
		{name: "vercel", title: "Vercel", ids: verceltest.ID,
			speak: func(w world, s settings) http.Handler {
				return verceltest.New(w, verceltest.Options{Key: s.key, TaskLabel: s.label})
			}},
	}
}
