package reconcile

import (
	"hash/fnv"
	"maps"
	"slices"
)

// Sum is a hash of a text, to see that it changed without keeping it.
func Sum(text string) uint64 {
	if text == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// AppendNew appends those that the list does not have yet.
func AppendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// SortedKeys are the keys of a map in order, so that no order of a map decides anything.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Indices are 0 to n-1.
func Indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
