// Package tasks is the platform's task table and its workers' events: a mapping says what
// they mean, and is compiled to SQL once, checked against the live catalog,
// read in one snapshot, and only ever changed by one guarded UPDATE.
package tasks
