//go:build race

package reconcile_test

// raced is whether the race detector watches, which makes a history ten times as slow.
const raced = true
