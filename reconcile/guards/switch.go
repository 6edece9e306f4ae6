package guards

// Module is the import path of the tree.
const Module = "github.com/sandkeeper/sandkeeper"

// Off is the environment variable that names the guard which is off from the start.
const Off = "SANDKEEPER_GUARD_OFF"

// switchFolder has a package in the overlay alone, and in no tree: any package may import it,
// wherever the guards are.
const switchFolder = "reconcile/guards/guardswitch"

// theSwitch is the switch, in a package of its own. One guard at a time is off. Whether a guard
// has ever held something is noted: where it has not, leaving it out changes nothing.
const theSwitch = `// Package guardswitch is in no tree.
package guardswitch

import (
	"os"
	"reflect"
	"slices"
	"sync/atomic"
)

var (
	off   atomic.Int64
	fired [4096]atomic.Bool
)

func init() {
	if name := os.Getenv("` + Off + `"); name != "" && !Off(name) {
		panic("no such guard: " + name)
	}
}

// Off switches a guard off, and with "" all on. It reports whether there is one.
func Off(name string) bool {
	n := slices.Index(names, name)
	off.Store(int64(max(n, 0)))
	return n >= 0
}

// Fired are the guards that have held something since it was asked last.
func Fired() []string {
	var out []string
	for i, name := range names {
		if fired[i].Load() {
			out = append(out, name)
			fired[i].Store(false)
		}
	}
	return out
}

// Fires is the condition of a guard, false without it.
func Fires(n int64, holds bool) bool {
	if holds && !fired[n].Load() {
		fired[n].Store(true)
	}
	return holds && off.Load() != n
}

// Holds is an operand that a permission needs, true without the guard.
func Holds(n int64, holds bool) bool {
	if !holds && !fired[n].Load() {
		fired[n].Store(true)
	}
	return holds || off.Load() == n
}

// Runs reports whether the guard is on.
func Runs(n int64) bool {
	if !fired[n].Load() {
		fired[n].Store(true)
	}
	return off.Load() != n
}

// Swaps is a condition that is another one without the guard.
func Swaps(n int64, with, without bool) bool {
	if with != without && !fired[n].Load() {
		fired[n].Store(true)
	}
	if off.Load() == n {
		return without
	}
	return with
}

// Else reports whether a value stays what it is.
func Else(n int64, with, without any) bool {
	if !fired[n].Load() && !reflect.DeepEqual(with, without) {
		fired[n].Store(true)
	}
	return off.Load() != n
}
`

// wayToSwitch is in the overlay of every package with a mark.
const wayToSwitch = `
import "` + Module + `/` + switchFolder + `"

func guardFires(n int64, holds bool) bool { return guardswitch.Fires(n, holds) }
func guardHolds(n int64, holds bool) bool { return guardswitch.Holds(n, holds) }
func guardRuns(n int64) bool              { return guardswitch.Runs(n) }

func guardSwaps(n int64, with, without bool) bool { return guardswitch.Swaps(n, with, without) }

func guardElse[T any](n int64, with, without T) T {
	if guardswitch.Else(n, with, without) {
		return with
	}
	return without
}
`

// SwitchOfTests is the file by which tests reach the switch. In the tree it has none.
const SwitchOfTests = "reconcile/run/guards_switch_test.go"

const theTestsSwitch = `package run_test

import "` + Module + `/` + switchFolder + `"

const switchable = true

func guardOff(name string) bool { return guardswitch.Off(name) }
func guardsFired() []string     { return guardswitch.Fired() }
`
