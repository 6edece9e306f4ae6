// Package vercel speaks to Vercel Sandbox. There a sandbox is a named record, and each run of
// it is a session: a virtual machine with an id of its own, which never runs again once it
// is over. What costs and can hang is the session, so that is what this adapter lists, looks
// at, probes and ends. The record with its saved disk is deleted only where the entry says so.
//
// # Decisions
//
//   - 2026-11-21: the id is the session's. A name outlives the machine behind it, and a
//     delete by name would take a newer one.
//   - 2026-11-21: no request asks to resume, and every look at a record says so in words:
//     one word more and a look would start a machine.
//   - 2026-11-21: a listing reads what runs and what stops, by status, and then what changed
//     recently, by the time of the change. The first two can miss the states that the filter
//     has no word for; reading everything would cost the whole history each time.
//   - 2026-11-21: a session's age counts from when it ran, not from when its record was made,
//     which may be weeks before.
package vercel

import (
	_ "embed" // the guide
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// DefaultURL is the vendor's API.
const DefaultURL = "https://api.vercel.com"

// Guide is what an operator should know: the credential, the keys, the traps.
//
//go:embed guide.md
var Guide string

// Keys are those of an entry of this kind.
var Keys = entry.Keys{
	entry.URL(DefaultURL),
	entry.Token("an access token for the team, made in the account's settings"),
	{Name: "team", Required: "give the team's id (team_…), which is in its settings", Doc: "The team's id, or its slug."},
	{Name: "project", Required: "give the project's id (prj_…), which is in its settings", Doc: "The project's id."},
	{Name: "terminate", Default: "session", Words: []string{"session", "record"},
		Doc: "What an end is: the session is stopped, or the sandbox is deleted with its name and tags."},
}

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Template: true, Sizes: true, PageSize: pageSize, NameMayBeID: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning},
	Lags:   "shows what neither runs nor stops only when its state changed within a day",

	EndsAtOnce: true, StaysOnRecord: true, Refuses: true, Busy: true,
	Exec: true, Files: true, DataPlane: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateFailed,
		reconcile.TemplateMissing},
	TemplateExpires: true,
	Looks:           "not told whether the lists of records and of sessions are two stores",
	Deaths:          "the session's record: when, and whether somebody asked",
	Plants:          canaryLasts,
}

// A Provider is one project of one team. It is safe for concurrent use.
type Provider struct {
	entry   entry.Entry
	client  *wire.Client
	base    *wire.Base
	team    url.Values
	project string
	deletes bool         // a terminate deletes the record, not only the session
	swept   atomic.Int64 // when a listing last looked back as far as anything can be alive, in unix seconds
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do.
func (p *Provider) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Named: p, Templates: p, Checker: p, Deaths: p, Planter: p, NamesLast: true}
}

// New makes the adapter of an entry. It makes no call.
func New(e entry.Entry, o entry.Options) (*Provider, error) {
	team, project, ends := e.Extra["team"], e.Extra["project"], e.Extra["terminate"]
	if err := Keys.Refuse(e); err != nil {
		return nil, err
	}
	c, f, err := wire.Open(e, o, wire.Dialect{
		URL: DefaultURL, Hint: "is the url right?", Certain: certain, Refused: refused,
		Wait: wire.Resets("X-RateLimit-Reset"),
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{entry: e, client: c, base: f, project: project, deletes: ends == "record",
		team: url.Values{"teamId": {team}}}
	if !strings.HasPrefix(team, "team_") {
		p.team = url.Values{"slug": {team}}
	}
	return p, nil
}

// at is the address of a thing of the team.
func (p *Provider) at(query url.Values, parts ...string) string {
	all := url.Values{}
	for _, values := range []url.Values{p.team, query} {
		for key, value := range values {
			all[key] = value
		}
	}
	return p.client.At(append([]string{"v2", "sandboxes"}, parts...)...) + "?" + all.Encode()
}

// The codes of errors that mean something to us.
const (
	notFound = "not_found"
	isOver   = "sandbox_stopped"
	isEnding = "sandbox_stopping"
	noDisk   = "snapshot_not_found"
	oddFile  = "file_error"
)

// missing are the vendor's ways to say that a thing is not there. The same code comes for a
// path without a route, for a project and for a team: these say nothing of the thing.
var missing = regexp.MustCompile(`(?i)\b(sandbox|session|snapshot)\b.*\bnot found\b` +
	`|\bcould not find the (named )?(sandbox|session|snapshot)\b`)

// certain reports whether the API says that the thing itself is not there: 404 with words
// of it, or 410 with the code of a session that is over. Another 410 is of a snapshot, or of
// a version of the API that is retired.
func certain(a wire.Answer, s wire.APIError) bool {
	if !wire.IsJSON(a.Header) || s.Field != "error.message" {
		return false
	}
	if a.Status == http.StatusGone {
		return s.Code == isOver
	}
	return s.Code == notFound && missing.MatchString(s.Text)
}

// refused reports whether the token itself is refused: this vendor says so with a 403.
func refused(a wire.Answer) bool {
	var in struct {
		Error struct {
			InvalidToken bool `json:"invalidToken"`
		} `json:"error"`
	}
	return a.Status == http.StatusForbidden && wire.IsJSON(a.Header) && wire.Unmarshal(a.Body, &in) == nil &&
		in.Error.InvalidToken
}
