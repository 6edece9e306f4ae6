//go:build !nodocker

package providers

import "github.com/sandkeeper/sandkeeper/providers/docker"

var withDocker = []adapter{of("docker", docker.New, docker.Abilities, docker.Keys, docker.Guide)}
