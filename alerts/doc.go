// Package alerts shows Prometheus what the ledger knows, and holds the alerts that watch it.
//
// The series come from the ledger, in one reading for each scrape, so they survive restarts
// and are the same from every replica. That decides how a rule has to read them: it takes
// the maximum over replicas and never their sum. What could not be measured is absent,
// never 0: a gauge that says 0 was looked at.
//
// rules.yaml holds the alerts, rules_test.yaml shows each of them firing and silent just
// below, and runbooks has a page for each.
//
// # Decisions
//
//   - 2026-11-21: every series carries the installation's name, so that one Prometheus can
//     watch several. The rules group by it and by nothing that a scrape adds (instance, pod):
//     those change with every deploy, and a counter must not restart because of that.
//   - 2026-11-21: what the config decides and a rule has to know, the schedule and the
//     sizes that are too large, is exported as well. A rule with a number of its own would
//     be wrong in every house but one.
//   - 2026-11-21: ratios of tasks are made from findings, not from actions: they say the same
//     where a rule acts, and are there already while it only observes.
//   - 2026-11-21: a template that the last full passes could not read is absent. An old word on
//     a template would page, or reassure, for something that nobody looks at any more.
package alerts
