package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestTimesAreToldApart: two turns at one time are two.
func TestTimesAreToldApart(t *testing.T) {
	if !strings.Contains(stamps([]time.Time{worldtest.TaskNow, worldtest.TaskNow}), ", ") {
		t.Error("times are not told apart")
	}
}
