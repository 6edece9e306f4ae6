// Package ledger keeps what sandkeeper saw and did in PostgreSQL, in the schema sandkeeper: the
// only truth about it.
//
// Any number of processes share a ledger. One at a time runs a pass, under the pass lease,
// which fences all that a pass writes. Workers carry out actions beside it without a lease:
// each claim is their own, until it ends by its time. Both count against the same budgets.
// All lock what they change in one order, sandboxes before actions before totals, so that
// they wait for each other and never in a circle; those who plan take turns. [Rate] spaces the calls to a provider over
// all of them.
//
// People and metrics read by [Reader.Overview] and [Reader.Measures], each in one snapshot
// whose cost follows what is open; totals that outlive their rows are kept as they grow.
package ledger
