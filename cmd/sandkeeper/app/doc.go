// Package app opens what a config names, and does with it what the verbs ask for: an [App] has
// the ledger, the task database and the providers; a [Daemon] makes passes with them, reads the
// config again when it changes, tells the platform by its webhook and serves the page.
package app
