package store

import "embed"

//go:embed queries/ledger_*.sql queries/rate_reserve.sql
var queryFiles embed.FS

var queries = Queries(queryFiles)
