package pgtest

import _ "embed" // the schema and the seeds below

// OmoiOS is the schema of the omoios platform: its tables that have to do with tasks, as
// its own migrations leave them. Little in them has a default.
//
//go:embed testdata/omoios.sql
var OmoiOS string

// OmoiOSTicket makes a project that works by itself, and in it a ticket with the id
// `ticket`, which tasks can hang on.
//
//go:embed testdata/omoios_ticket.sql
var OmoiOSTicket string

//go:embed testdata/omoios_program.sql
var omoiosProgram string

// OmoiOSProgram stands for the platform's program where a test only says what matters to
// it: [OmoiOSTicket], and the views program.tasks and program.sandbox_events. What is
// inserted into them is completed as the program does it, with an id, times and a ticket;
// the tables themselves stay the real ones, without those defaults.
var OmoiOSProgram = OmoiOSTicket + omoiosProgram
