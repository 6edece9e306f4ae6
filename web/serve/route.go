package serve

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/api"
)

// forPeople is a row for people who look.
func forPeople(path string, to http.HandlerFunc) route {
	return route{"GET", path, kindPage, roleReader, readers(), true, notKept, onWeb, to}
}

// ownText is the same of what holds no text of a tenant.
func ownText(path string, to http.HandlerFunc) route {
	return route{"GET", path, kindPage, roleReader, readers(), false, notKept, onWeb, to}
}

// reads is a row for programs that read.
func reads(path string, to http.HandlerFunc) route {
	return route{"GET", path, kindData, roleReader, readers(), true, notKept, onWeb, to}
}

// readers are the credentials that count for who reads.
func readers() []credential {
	return []credential{byBasic, bySession, byProxy, byReadToken, byActToken}
}

// acts is a row for programs that ask for something.
func (s *asker) acts(method, path string, do func(context.Context, *http.Request) (api.Done, error)) route {
	return route{method, path, kindAct, roleOperator, []credential{byActToken}, true, notKept, onWeb, s.recorded(do)}
}

// A kind is what a route is. A new one needs its rules in [route.check] first.
type kind string

const (
	kindPage    kind = "page"
	kindAsset   kind = "asset"
	kindMetrics kind = "metrics"
	kindHealth  kind = "health"
	kindData    kind = "data" // a page for programs
	kindAct     kind = "act"
	kindAgent   kind = "agent"   // tools for agents, which read; they are asked for by POST
	kindPush    kind = "push"    // what a provider sends by itself: a reason to look, which changes nothing
	kindSession kind = "session" // a browser's session begins or ends; it changes nothing else
)

// A role is who somebody must be.
type role int

const (
	roleNone role = iota
	roleReader
	roleOperator
)

// String is the role as a person reads it.
func (r role) String() string { return []string{"nobody", "reader", "operator"}[r] }

// A credential is how somebody has shown who he is.
type credential string

const (
	byBasic     credential = "basic"
	bySession   credential = "session"
	byProxy     credential = "proxy"
	byReadToken credential = "token (read)"
	byActToken  credential = "token (act)"
	bySignature credential = "signature" // over what is pushed: it shows whose that is, and nobody
)

// ofBrowsers reports whether a browser shows it with whatever any page has it send.
func ofBrowsers(c credential) bool { return c != byReadToken && c != byActToken }

// A caching is who may keep an answer.
type caching string

const (
	notKept       caching = "no-store"
	keptByVersion caching = "by version"
)

// A listener is the key of the address at which a route answers.
type listener string

const onWeb listener = "web.listen"

// changes reports whether the route changes something.
func (r *route) changes() bool { return r.kind == kindAct }

// posted reports whether it is asked for by POST though it changes nothing.
func (r *route) posted() bool {
	return r.kind == kindSession || r.kind == kindAgent || r.kind == kindPush
}

// guarded reports whether nobody but this page, or a program, may have it asked for.
func (r *route) guarded() bool { return r.changes() || r.kind == kindSession }

// deletes reports whether it is a program's act by DELETE. A browser sends none across origins unasked, and no form
// sends one at all; a page has no business with it.
func (r *route) deletes() bool {
	programs := !slices.ContainsFunc(r.by, func(c credential) bool { return c != byActToken })
	return r.method == http.MethodDelete && r.changes() && programs && strings.HasPrefix(r.path, "/api/")
}

// check is the rule that a row breaks. [Rules for what will act] in SECURITY.md has the reasons.
//
// [Rules for what will act]: https://github.com/sandkeeper/sandkeeper/blob/main/SECURITY.md#rules-for-what-will-act
func (r *route) check() error {
	known := []kind{kindPage, kindAsset, kindMetrics, kindHealth, kindData, kindAct, kindSession, kindAgent,
		kindPush}
	open, signed := r.role == roleNone, slices.Equal(r.by, []credential{bySignature})
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{!slices.Contains(known, r.kind), "there are no rules for its kind"},
		{!strings.HasPrefix(r.path, "/"), "its path does not begin with a slash"},
		{r.to == nil, "nothing answers"},
		{r.on != onWeb, "there is no such listener"},
		{r.changes() && r.method != http.MethodPost && !r.deletes(), "what changes something is a POST"},
		{r.kind == kindSession && r.method != http.MethodPost, "a session begins and ends by a POST"},
		{r.kind == kindAgent && r.method != http.MethodPost, "tools for agents are asked for by a POST"},
		{r.kind == kindAgent && slices.ContainsFunc(r.by, ofBrowsers), "tools for agents are asked for by programs alone"},
		{!r.changes() && !r.posted() && r.method != http.MethodGet, "what changes nothing is a GET"},
		{r.changes() && r.role != roleOperator, "nobody but an operator changes something"},
		{r.kind == kindPush && r.method != http.MethodPost, "what is pushed comes by a POST"},
		{r.kind == kindPush && !(open && signed), "a signature alone shows whose a push is"},
		{r.kind != kindPush && slices.Contains(r.by, bySignature), "a signature shows whose a push is, and nobody"},
		{open && r.kind != kindHealth && r.kind != kindPush, "nothing but a health check or a push is answered to anybody"},
		{open && r.tenants, "texts of tenants are not for anybody"},
		{!open && len(r.by) == 0, "no credential counts"},
		{r.cache != notKept && r.cache != keptByVersion, "who may keep it is not said"},
		{r.cache != notKept && r.kind != kindAsset, "nothing but an asset may be kept"},
	} {
		if rule.broken {
			return fmt.Errorf("%s %s: %s", r.method, r.path, rule.says)
		}
	}
	return nil
}
