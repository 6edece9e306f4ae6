package pgtest

import _ "embed" // the schema below

// CodingAgent is the schema of the coding-agent template's tasks, as the preset of that
// name expects it.
//
//go:embed testdata/coding_agent.sql
var CodingAgent string
