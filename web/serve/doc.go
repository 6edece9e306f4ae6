// Package serve serves the status page, /metrics, /healthz and /readyz: the listener with its
// limits, the auth gate, the headers, and one reading of the ledger for all who look.
//
// # Decisions
//
//   - 2026-11-21: however many tabs are open, the ledger is read at most once at a time, and
//     a reading is shown for at most a second. A reading that failed is shown as failed: an
//     old "all in agreement" is worse than no page.
//   - 2026-11-21: /healthz and /readyz answer without users, because the probes of an
//     orchestrator have none. They name checks and nothing else.
//   - 2026-11-23: the router is made from one table of routes, and a row that breaks a rule is left out. What will
//     act one day cannot be added without its guards, also by who has not read them.
//   - 2026-11-25: while the ledger cannot be read, what it said last stays below a verdict that says so, grey and
//     with its time. The verdict is never the old one.
//   - 2026-11-25: a page's form may ask this server and no other (form-action 'self'): search and filters need no
//     script.
//   - 2026-11-25: a page that is told of changes takes no seat among the requests under way; such pages have a limit of
//     their own, and one question to the ledger serves them all.
//   - 2026-11-25: an act is recorded, never done: the page holds no provider's key, and what it asks for goes the way
//     of the verbs. A browser acts in a session that begins with the password given to a form of ours, over TLS; a
//     program by a token. Sessions are in memory: a process that is gone has none, and the ledger has no secret to
//     steal.
package serve
