//go:build race

package raced

// On is whether the race detector watches.
const On = true
