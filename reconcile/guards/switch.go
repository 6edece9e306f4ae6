package guards

// Module is the import path of the tree.
const Module = "github.com/sandkeeper/sandkeeper"

// Off is the environment variable that names the guard which is off from the start.
const Off = "SANDKEEPER_GUARD_OFF"

// theSwitch is in the overlay of [Home] alone. One guard at a time is off. Whether a guard
// has ever held something is noted: where it has not, leaving it out changes nothing.
const theSwitch = `
import (
	"os"
	"reflect"
	"slices"
	"sync/atomic"
)

var (
	guardOff   atomic.Int64
	guardFired [4096]atomic.Bool
)

func init() {
	if name := os.Getenv("` + Off + `"); name != "" && !GuardOff(name) {
		panic("no such guard: " + name)
	}
}

// GuardOff switches a guard off, and with "" all on. It reports whether there is one.
func GuardOff(name string) bool {
	n := slices.Index(guardNames, name)
	guardOff.Store(int64(max(n, 0)))
	return n >= 0
}

// GuardsFired are the guards that have held something since it was asked last.
func GuardsFired() []string {
	var names []string
	for i, name := range guardNames {
		if guardFired[i].Load() {
			names = append(names, name)
			guardFired[i].Store(false)
		}
	}
	return names
}

// GuardFires is the condition of a guard, false without it.
func GuardFires(n int64, holds bool) bool {
	if holds && !guardFired[n].Load() {
		guardFired[n].Store(true)
	}
	return holds && guardOff.Load() != n
}

// GuardHolds is an operand that a permission needs, true without the guard.
func GuardHolds(n int64, holds bool) bool {
	if !holds && !guardFired[n].Load() {
		guardFired[n].Store(true)
	}
	return holds || guardOff.Load() == n
}

// GuardRuns reports whether the guard is on.
func GuardRuns(n int64) bool {
	if !guardFired[n].Load() {
		guardFired[n].Store(true)
	}
	return guardOff.Load() != n
}

// GuardSwaps is a condition that is another one without the guard.
func GuardSwaps(n int64, with, without bool) bool {
	if with != without && !guardFired[n].Load() {
		guardFired[n].Store(true)
	}
	if guardOff.Load() == n {
		return without
	}
	return with
}

// GuardElse reports whether a value stays what it is.
func GuardElse(n int64, with, without any) bool {
	if !guardFired[n].Load() && !reflect.DeepEqual(with, without) {
		guardFired[n].Store(true)
	}
	return guardOff.Load() != n
}

func guardFires(n int64, holds bool) bool { return GuardFires(n, holds) }
func guardHolds(n int64, holds bool) bool { return GuardHolds(n, holds) }
func guardRuns(n int64) bool              { return GuardRuns(n) }

func guardSwaps(n int64, with, without bool) bool { return GuardSwaps(n, with, without) }

func guardElse[T any](n int64, with, without T) T {
	if GuardElse(n, with, without) {
		return with
	}
	return without
}
`

// wayToSwitch is in the overlay of every other package.
const wayToSwitch = `
import "MODULE/` + Home + `"

func guardFires(n int64, holds bool) bool { return reconcile.GuardFires(n, holds) }
func guardHolds(n int64, holds bool) bool { return reconcile.GuardHolds(n, holds) }
func guardRuns(n int64) bool              { return reconcile.GuardRuns(n) }

func guardSwaps(n int64, with, without bool) bool { return reconcile.GuardSwaps(n, with, without) }

func guardElse[T any](n int64, with, without T) T {
	if reconcile.GuardElse(n, with, without) {
		return with
	}
	return without
}
`

// SwitchOfTests is the file by which tests reach the switch. In the tree it has none.
const SwitchOfTests = Home + "/guards_switch_test.go"

const theTestsSwitch = `package reconcile_test

import "` + Module + `/` + Home + `"

const switchable = true

func guardOff(name string) bool { return reconcile.GuardOff(name) }
func guardsFired() []string     { return reconcile.GuardsFired() }
`
