package pgtest

import _ "embed" // the schema below

// OmoiOS is the schema of the omoios platform's tasks and sandbox_events, as the preset
// of that name expects it.
//
//go:embed testdata/omoios.sql
var OmoiOS string
