// Package sqltext reads the SQL that a config gives: an expression, a statement, the name of a
// table. It knows no database: it says what cannot stand in a statement of ours, and puts ours in
// place of the names that a config may use.
package sqltext
