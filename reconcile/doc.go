// Package reconcile is the contract: what a task, a sandbox, a finding, an action and a hold are,
// the table of rules ([Rules]), and the ports that the other rooms fill: the task table, the
// ledger, the providers, the queue. It decides nothing and does nothing.
//
// Package decide judges and plans by it, purely; package run observes, acts and confirms.
// docs/design.md has the picture of a pass and the fifteen properties with what keeps each,
// docs/glossary.md the words.
package reconcile
