// Package raced says whether the race detector watches the tests. It makes code five to twenty
// times as slow, so that `make test` plays only in part what is long and mostly one goroutine
// after the other: those tests ask [Unless]. `make test-whole` runs their packages without the
// race detector, where everything is whole.
package raced

// Unless is how many are played: many, or a few while the race detector watches.
func Unless(many, few int) int {
	if On {
		return few
	}
	return many
}
