package wire

import (
	"strconv"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An Amount is a number that says how large a sandbox is. What is no such number is 0: it is for money alone, and no
// listing is worth less because of it.
type Amount float64

// UnmarshalJSON never fails.
func (n *Amount) UnmarshalJSON(said []byte) error {
	got, err := strconv.ParseFloat(string(said), 64)
	if err != nil || !(got > 0 && got < 1e9) {
		got = 0
	}
	*n = Amount(got)
	return nil
}

// Size is how large a sandbox is that has so many CPUs, GPUs and GiB.
func Size(cpu, gpu, gib Amount) reconcile.Size {
	return reconcile.Size{CPU: float64(cpu), GPU: float64(gpu), MemoryGiB: float64(gib)}
}
