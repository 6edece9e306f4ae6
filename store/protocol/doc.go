// Package protocol is what every ledger decides alike, wherever it keeps its rows: who may
// take a lease, whether an action may be claimed, what a run of probes comes to. It is
// pure: no clock, no I/O. The ledger in PostgreSQL (store/ledger) and the one in memory
// (store/memory) only differ in how they read and write.
package protocol
