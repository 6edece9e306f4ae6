// Package store opens the databases that sandkeeper works with, by pgx: deadlines on every
// call, advice on what an outage means, and the queries that lie beside the code as files.
//
// Two databases meet here, which may be one: theirs, with the platform's task table and its
// workers' events (package tasks), and ours, the ledger in the schema sandkeeper (package
// ledger). What every ledger decides alike, in PostgreSQL or in memory, is package protocol.
package store
