package deploy

import _ "embed"

// GrantsLedger is the SQL of sandkeeper's roles in the database of the ledger.
//
//go:embed grants_ledger.sql
var GrantsLedger string
