//go:build !nokubernetes

package providers

import (
	"log/slog"

	"k8s.io/klog/v2"

	"github.com/sandkeeper/sandkeeper/providers/kubernetes"
)

var withKubernetes = []adapter{of("kubernetes", kubernetes.New, kubernetes.Abilities, kubernetes.Keys,
	kubernetes.Guide)}

// LogTo says where libraries of adapters log that would write to stderr by themselves. It is for the
// start of a process, before any adapter is opened.
func LogTo(log *slog.Logger) { klog.SetSlogLogger(log) }
