package web

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Addresses of pages are relative to the first page, so that all works below a path too: what prints one puts the way up
// before it.

// address joins the segments of an address. What cannot be a segment, as "..", which a browser would walk up, makes none.
func address(segments ...string) string {
	out := make([]string, len(segments))
	for i, s := range segments {
		if out[i] = escape(s); s == "" || s == "." || s == ".." || len(out[i]) > mostSegment {
			return ""
		}
	}
	return strings.Join(out, "/")
}

// mostSegment is how long a part of an address may be: nothing that a platform names is longer.
const mostSegment = 600

// asking adds a query to an address: pairs of name and value, without those that are empty or too long.
func asking(address string, pairs ...string) string {
	sign := "?"
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := escape(pairs[i+1]); value != "" && len(value) <= mostSegment {
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

func taskAddress(id string) string { return address("tasks", id) }

func sandboxAddress(provider, id string) string { return address("sandboxes", provider, id) }

func ruleAddress(rule string) string {
	if reconcile.RuleNamed(rule).Means == "" {
		return "" // asked for by an operator, or of a later version
	}
	return address("rules", rule)
}

// subjectAddress is the page of a subject; "" when it has none.
func subjectAddress(subject string) string {
	switch of := reconcile.ParseSubject(subject); of.Type {
	case reconcile.SubjectTask:
		return taskAddress(of.ID)
	case reconcile.SubjectSandbox:
		return sandboxAddress(of.Provider, of.ID)
	case reconcile.SubjectIncident:
		return address("incidents", of.ID)
	case reconcile.SubjectRule:
		return ruleAddress(of.ID)
	case reconcile.SubjectSource:
		return "sources"
	}
	return ""
}
