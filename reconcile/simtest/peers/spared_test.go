package peers

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/sandkeeper/sandkeeper/test/raced"
)

// spared is one goroutine after the other: `make test-whole` plays it.
var spared = map[string]string{"TestSameNumbers": "each janitor twice; TestHeadToHead plays them all once"}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := raced.Spare(spared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.Run()
}

func TestSparedAreTests(t *testing.T) { raced.AreTests(t, spared) }
