// Package api is what programs read and ask for: the JSON of /api/v1 and of the runbook's paths, as types made from
// what the ledger has. Who may read it, and by which address, is [serve]'s.
//
// Names follow the contract in docs/http.md: a subject has type, id and provider, what holds is a list of kind, what,
// reason, by, since and until, what is absent is left out, durations are seconds, and times are RFC 3339 in UTC. A
// field that may hold a text of a tenant says so in the schema: x-untrusted.
//
// # Decisions
//
//   - 2026-11-25: a document holds no time of its own making, so that its ETag changes with what it says and not with
//     the moment that somebody asks.
//
// [serve]: https://pkg.go.dev/github.com/sandkeeper/sandkeeper/web/serve
package api
