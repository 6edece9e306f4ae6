//go:build nokubernetes

package providers

import "log/slog"

var withKubernetes []adapter

// LogTo says where libraries of adapters log; none does by itself in this build.
func LogTo(*slog.Logger) {}
