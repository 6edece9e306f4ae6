//go:build !race

package reconcile_test

const raced = false
