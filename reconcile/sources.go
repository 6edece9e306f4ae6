package reconcile

import "strings"

// SourceActivity is what shows that workers do something. Heartbeats may go on while it is out.
const SourceActivity = "activity"

// ListingOf is the source that the listing of a provider is.
func ListingOf(provider string) string { return "listing:" + provider }

// ProbesOf is the source that the probes at a provider are.
func ProbesOf(provider string) string { return "probes:" + provider }

// ClockOf is the source that a column of times is.
func ClockOf(column string) string { return "clock:" + column }

// CredentialOf is the source that the credential of a provider is.
func CredentialOf(provider string) string { return "credential:" + provider }

// IsClock reports whether a source is a column of times.
func IsClock(source string) bool { return len(source) > 6 && source[:6] == "clock:" }

// FreezeName is the freeze of a source: "listing:daytona" is "listing-untrusted daytona".
func FreezeName(source string) string {
	kind, which, _ := strings.Cut(source, ":")
	return strings.TrimSpace(kind + "-untrusted " + which)
}
