package ui

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Addresses of pages are relative to the first page, so that all works below a path too: what prints one puts the way
// up before it.

// Address joins the segments of an address. What cannot be a segment, as "..", which a browser would walk up, makes
// none.
func Address(segments ...string) string {
	out := make([]string, len(segments))
	for i, s := range segments {
		if out[i] = escape(s); s == "" || s == "." || s == ".." || len(out[i]) > MostSegment {
			return ""
		}
	}
	return strings.Join(out, "/")
}

// MostSegment is how long a part of an address may be: nothing that a platform names is longer.
const MostSegment = 600

// Asking adds a query to an address: pairs of name and value, without those that are empty or too long.
func Asking(address string, pairs ...string) string {
	sign := "?"
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := escape(pairs[i+1]); value != "" && len(value) <= MostSegment {
			address += sign + pairs[i] + "=" + value
			sign = "&"
		}
	}
	return address
}

const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// escape is a text as a part of an address.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(unreserved, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// TaskAddress is the page of a task.
func TaskAddress(id string) string { return Address("tasks", id) }

// SandboxAddress is the page of a sandbox.
func SandboxAddress(provider, id string) string { return Address("sandboxes", provider, id) }

// RuleAddress is the page of a rule; "" when it has none.
func RuleAddress(rule string) string {
	if reconcile.RuleNamed(rule).Means == "" {
		return "" // asked for by an operator, or of a later version
	}
	return Address("rules", rule)
}

// SubjectAddress is the page of a subject; "" when it has none.
func SubjectAddress(subject string) string {
	switch of := reconcile.ParseSubject(subject); of.Type {
	case reconcile.SubjectTask:
		return TaskAddress(of.ID)
	case reconcile.SubjectSandbox:
		if of.Provider == "" {
			return Asking("search", "q", of.ID) // an operator named none
		}
		return SandboxAddress(of.Provider, of.ID)
	case reconcile.SubjectIncident:
		return Address("incidents", of.ID)
	case reconcile.SubjectRule:
		return RuleAddress(of.ID)
	case reconcile.SubjectBreaker:
		return RuleAddress(of.ID)
	case reconcile.SubjectProvider:
		return Asking("sandboxes", "provider", of.ID)
	case reconcile.SubjectTemplate:
		return Asking("sandboxes", "provider", of.Provider, "template", of.ID) // those that were made from it
	case reconcile.SubjectSource:
		return "sources"
	}
	return ""
}
