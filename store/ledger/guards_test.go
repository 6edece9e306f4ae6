package ledger

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/store/storetest"
)

func init() { storetest.WithoutGuard(queries) }

// TestSQLGuards: each guard of the queries matters.
func TestSQLGuards(t *testing.T) { storetest.SQLGuards(t, "../..", "store/ledger") }
