package reconcile

import "strings"

// SourceActivity is what shows that workers do something. Heartbeats may go on while it is out.
const SourceActivity = "activity"

func ListingOf(provider string) string { return "listing:" + provider }

func ProbesOf(provider string) string { return "probes:" + provider }

func ClockOf(column string) string { return "clock:" + column }

func CredentialOf(provider string) string { return "credential:" + provider }

func IsClock(source string) bool { return len(source) > 6 && source[:6] == "clock:" }

// FreezeName is the freeze of a source: "listing:daytona" is "listing-untrusted daytona".
func FreezeName(source string) string {
	kind, which, _ := strings.Cut(source, ":")
	return strings.TrimSpace(kind + "-untrusted " + which)
}
