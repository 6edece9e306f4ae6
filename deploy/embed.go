// Package deploy holds what sandkeeper is deployed with, and the part of it that the program prints.
package deploy

import _ "embed"

// The chart can read no file outside of its folder.
//
//go:generate cp kustomize/base/sandkeeper.yaml ../alerts/rules.yaml ../alerts/dashboard.json helm/sandkeeper/files/

// GrantsLedger is the SQL of sandkeeper's roles in the database of the ledger.
//
//go:embed grants_ledger.sql
var GrantsLedger string
