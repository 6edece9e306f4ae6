package reconcile

import "strings"

// The names of sources. Listings, probes and clocks have one for each provider or column.
const (
	SourceTasks  = "tasks"
	SourceLink   = "link"
	SourceEvents = "events"
)

// SourceActivity is what shows that workers do something. Heartbeats may go on while it is out.
const SourceActivity = "activity"

// The kinds of sources of which there is one for each provider or column.
const (
	SourceListing    = "listing"
	SourceProbes     = "probes"
	SourceClock      = "clock"
	SourceCredential = "credential"
)

// ListingOf is the source that the listing of a provider is.
func ListingOf(provider string) string { return SourceListing + ":" + provider }

// ProbesOf is the source that the probes at a provider are.
func ProbesOf(provider string) string { return SourceProbes + ":" + provider }

// ClockOf is the source that a column of times is.
func ClockOf(column string) string { return SourceClock + ":" + column }

// providerClock comes before the name of a provider's entry, which may be that of a column.
const providerClock = "provider/"

// ProviderClockOf is the source that the clock of a provider is.
func ProviderClockOf(provider string) string { return ClockOf(providerClock + provider) }

// ClockProvider is whose clock a source is, if it is a provider's.
func ClockProvider(source string) (provider string, is bool) {
	which, clock := OfKind(SourceClock, source)
	name, of := strings.CutPrefix(which, providerClock)
	return name, clock && of && name != ""
}

// CredentialOf is the source that the credential of a provider is.
func CredentialOf(provider string) string { return SourceCredential + ":" + provider }

// SourceParts are the kind of a source and which of that kind it is: "listing" and "daytona".
func SourceParts(source string) (kind, which string) {
	source, _ = SourceTenant(source)
	kind, which, _ = strings.Cut(source, ":")
	return kind, which
}

// SourceTenant is whose part of which source this is; "" when it is the whole.
func SourceTenant(source string) (whole, tenant string) {
	whole, tenant, _ = strings.Cut(source, tenantMark)
	return whole, tenant
}

// OfKind is which source of a kind this is: "daytona" of "listing:daytona".
func OfKind(kind, source string) (which string, is bool) {
	of, which := SourceParts(source)
	return which, of == kind && which != ""
}

// IsClock reports whether a source is a column of times.
func IsClock(source string) bool {
	_, is := OfKind(SourceClock, source)
	return is
}

// FreezeName is the freeze of a source: "listing:daytona" is "listing-untrusted daytona", and "link@acme" is
// "link-untrusted @acme".
func FreezeName(source string) string {
	kind, which := SourceParts(source)
	if _, tenant := SourceTenant(source); tenant != "" {
		which = OfTenant(which, tenant)
	}
	return strings.TrimSpace(kind + "-untrusted " + which)
}
