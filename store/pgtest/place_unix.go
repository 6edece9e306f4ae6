//go:build unix && !linux

package pgtest

// inMemory is nowhere: only Linux has one ready.
func inMemory() (dir string, ok bool) { return "", false }
