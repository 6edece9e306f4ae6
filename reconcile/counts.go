package reconcile

import "strings"

// What a pass counts.
const (
	CountTasks     = "tasks"        // by state
	CountSandboxes = "sandboxes"    // by provider and state
	CountOwned     = "owned"        // by provider, as it was listed
	CountForeign   = "foreign"      // by provider: what is not ours
	CountBeyond    = "beyond_usual" // of the task that has the most sandboxes beyond those that are usual for it
	CountUnlooked  = "not_looked_at"
)

// A Count names one number of [Record.Counts]. Its text is what the ledger keeps: [Count.String] says
// it, [ParseCount] reads it.
type Count struct{ What, Provider, State string }

// String is the text: "tasks:running", "sandboxes:daytona:running", "owned:daytona".
func (c Count) String() string { return strings.Join(NonEmpty(c.What, c.Provider, c.State), ":") }

// ParseCount reads what String said.
func ParseCount(text string) Count {
	what, rest, _ := strings.Cut(text, ":")
	switch what {
	case CountTasks:
		return Count{What: what, State: rest}
	case CountSandboxes:
		if at := strings.LastIndexByte(rest, ':'); at >= 0 {
			return Count{what, rest[:at], rest[at+1:]}
		}
	case CountOwned, CountForeign:
		return Count{What: what, Provider: rest}
	}
	return Count{What: text}
}
