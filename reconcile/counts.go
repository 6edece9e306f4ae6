package reconcile

import (
	"maps"
	"slices"
	"strings"
)

// What a pass counts.
const (
	CountTasks     = "tasks"        // by state
	CountSandboxes = "sandboxes"    // by provider and state
	CountOwned     = "owned"        // by provider whose listing is whole and trusted
	CountForeign   = "foreign"      // by provider: what is not ours
	CountBeyond    = "beyond_usual" // of the task that has the most sandboxes beyond those that are usual for it
	CountUnlooked  = "not_looked_at"
	CountBlind     = "look_failed" // by provider: suspects that could not be looked at
	CountListed    = "listed"      // 1 of a quick pass that listed everything too

	CountAge        = "age"         // by provider and bound: sandboxes of ours that are at most so many seconds old
	CountAges       = "ages"        // by provider: their ages in seconds, added up
	CountQuotaUsed  = "quota_used"  // by provider and quota
	CountQuotaLimit = "quota_limit" // by provider and quota
)

// AgeBounds are the upper bounds, in seconds, of the ages that are counted.
var AgeBounds = []int64{60, 300, 900, 1800, 3600, 10_800, 43_200, 86_400, 604_800}

// MostQuotas is how many quotas of one provider are counted.
const MostQuotas = 20

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
	case CountQuotaUsed, CountQuotaLimit:
		// A provider's name has no colon that a quota's could not have too: the first one parts them.
		provider, quota, _ := strings.Cut(rest, ":")
		return Count{what, provider, quota}
	case CountSandboxes, CountAge:
		if at := strings.LastIndexByte(rest, ':'); at >= 0 {
			return Count{what, rest[:at], rest[at+1:]}
		}
	case CountOwned, CountForeign, CountAges, CountBlind:
		return Count{What: what, Provider: rest}
	}
	return Count{What: text}
}

// WithoutMeasures are the counts of things, without the ages and quotas that only metrics read, and without how a pass
// was made.
func WithoutMeasures(counts map[string]int) map[string]int {
	out := maps.Clone(counts)
	maps.DeleteFunc(out, func(text string, _ int) bool {
		left := []string{CountListed, CountAge, CountAges, CountQuotaUsed, CountQuotaLimit}
		return slices.Contains(left, ParseCount(text).What)
	})
	return out
}
