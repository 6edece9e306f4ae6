//go:build !nokubernetes

package providers

import "github.com/sandkeeper/sandkeeper/providers/kubernetes"

var withKubernetes = []adapter{of("kubernetes", kubernetes.New, kubernetes.Abilities, kubernetes.Keys,
	kubernetes.Guide)}
