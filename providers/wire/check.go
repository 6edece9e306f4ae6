package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Fixes are what an operator should do, by what went wrong.
type Fixes struct {
	Refused string // of a credential: "create an API key in the dashboard and set token: to it"
	URL     string // that is wrong: "set url: to the address that ends with /api"
	Key     string // of the entry, under which the address stands; "" means url
	Answer  string // that came, and is not understood; "" where that says no more
}

// Fix is what an operator should do about an error.
func (f Fixes) Fix(err error) string {
	var lost *Lost
	var refused *Refusal
	switch {
	case errors.Is(err, reconcile.ErrUnauthorized):
		return f.Refused
	case errors.Is(err, reconcile.ErrThrottled):
		return "wait, or lower rate: other programs share the limit"
	case errors.Is(err, ErrNotAPI), errors.Is(err, reconcile.ErrNotFound):
		return f.URL
	case errors.As(err, &refused) && refused.Status >= 500:
		return "it fails there: wait, and look at the provider's own logs or status page if it goes on"
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return f.URL
	case errors.As(err, &refused):
		return "see what the answer says, and " + f.URL
	case f.Answer != "" && !errors.As(err, &lost):
		return f.Answer
	}
	return "see that the address in " + first(f.Key, "url") + ": can be reached from here"
}

// Well is a line of `check` for what is in order.
func Well(what, said string) reconcile.CheckResult {
	return reconcile.CheckResult{What: what, OK: true, Said: said}
}

// Odd is a line of `check` for what works and could be better, with what to do about it.
func Odd(what, said, fix string) reconcile.CheckResult {
	return reconcile.CheckResult{What: what, OK: true, Said: text.Clip(said, 300), Fix: fix}
}

// Ill is a line of `check` for what is not in order, with what to do about it.
func Ill(what, said, fix string) reconcile.CheckResult {
	return reconcile.CheckResult{What: what, Said: text.Clip(said, 300), Fix: fix}
}

// Failed is the line of `check` for what went wrong.
func (f Fixes) Failed(what string, err error) reconcile.CheckResult {
	return Ill(what, err.Error(), f.Fix(err))
}

// CheckListing reads the first page and counts.
func (f *Base) CheckListing(ctx context.Context, read ReadPage, fixes Fixes) reconcile.CheckResult {
	page, err := read(ctx, "")
	if err != nil {
		return fixes.Failed("listing", err)
	}
	owned, undated, unsigned := 0, 0, 0
	for _, s := range page.Sandboxes {
		if s.Owned {
			owned++
		}
		if s.CreatedAt.IsZero() {
			undated++
		}
		if s.Owned && s.Unsigned != "" {
			unsigned++
		}
	}
	said := fmt.Sprintf("first page: %d sandboxes, %d owned", len(page.Sandboxes), owned)
	if undated > 0 {
		said += fmt.Sprintf("; %d without a readable time of creation: first seen counts instead", undated)
	}
	if unsigned > 0 {
		return Odd("listing", fmt.Sprintf("%s; the link of %d of them is not signed by link.key_file: only those "+
			"that the ledger linked before keep their task", said, unsigned),
			"let the platform sign first, and name link.key_file when no running sandbox is older than that")
	}
	return Well("listing", said)
}

// LimitsLeft shows what the provider's limiters say is left, by the headers that begin
// with one of the prefixes. Documents about limits disagree with each other; headers do not.
func LimitsLeft(h http.Header, prefixes ...string) reconcile.CheckResult {
	var said []string
	for name := range h {
		if limiter, is := limiterOf(name, prefixes); is {
			said = append(said, strings.TrimSpace(limiter+" "+text.Clip(h.Get(name), 20))+" left")
		}
	}
	slices.Sort(said)
	return Well("rate limit", first(strings.Join(said, ", "), "not said"))
}
