// Package store keeps what sandkeeper knows in PostgreSQL, by pgx.
//
// Two databases meet here, which may be one: theirs, with the platform's task table and
// its workers' events ([Tasks]), and ours, the ledger in the schema sandkeeper
// ([Ledger]). The task table is only ever changed by one guarded UPDATE; the ledger is
// the only truth about what sandkeeper saw and did.
package store
