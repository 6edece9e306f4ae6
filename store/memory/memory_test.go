package memory_test

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/store/memory"
	"github.com/sandkeeper/sandkeeper/store/storetest"
)

func TestPromises(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, clock func() time.Time) storetest.Ledger { return memory.New(clock) })
}
