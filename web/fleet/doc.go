// Package fleet says what runs at the providers: the totals, the line of each provider and how the last hours went, as
// far as each listing is trusted. It is pure.
package fleet
