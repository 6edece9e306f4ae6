// Package console is how a verb speaks to the person and the program that called it: colours and
// progress on a terminal, results as text, as a table or as JSON, the log, and the last gate that
// lets no foreign character move a cursor.
package console
