package decide

import "testing"

// TestNeverHad: where only rows prove whose a sandbox is, nothing is remembered of one whose provider's clock is not
// believed. That the ledger knows none says little then, and is shown.
func TestNeverHad(t *testing.T) {
	const byRow = "provider daytona referenced=yes label=no id=no; task t1 running started=1h updated=1h sandbox=k1"
	testRule(t, "sandbox-missing", map[string]ruleCase{
		"one would be remembered": {byRow, "healthy", ""},
		"none could be remembered": {
			byRow + "; source clock:provider/daytona untrusted since=1h; listing daytona off=1h", "kept",
			"no sandbox of it is on record, nor would one be that there was"},
		"each proves itself whose it is": {
			byRow + "; provider daytona referenced=no label=yes; source clock:provider/daytona untrusted since=1h; " +
				"listing daytona off=1h", "healthy", ""},
	})
}
