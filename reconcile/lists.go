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

func AppendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func Indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
