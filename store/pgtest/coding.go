package pgtest

import _ "embed" // the schemas and the seed below

// CodingAgent is the schema of the coding-agent template: its tables that have to do with
// tasks, as its own migrations leave them.
//
//go:embed testdata/coding_agent.sql
var CodingAgent string

// CodingAgentFork is the schema of a fork of the template that has last_heartbeat.
//
//go:embed testdata/coding_agent_fork.sql
var CodingAgentFork string

// CodingAgentUser makes a user with the id `u`, whom tasks of either can belong to.
//
//go:embed testdata/coding_agent_user.sql
var CodingAgentUser string
