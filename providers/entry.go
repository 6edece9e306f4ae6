package providers

import "github.com/sandkeeper/sandkeeper/providers/entry"

// An Entry is one provider of the config, defaults filled in.
type Entry = entry.Entry

// Owns is the proof that a sandbox is this installation's. Labels and NamePrefix must all
// hold where given.
type Owns = entry.Owns

// A Class is what sandboxes have in common: those that are never ours, and the spares of a warm pool.
type Class = entry.Class

// Link is how a sandbox and a task know each other.
type Link = entry.Link

// Options are what opening a provider needs besides its entry: transport, log, user agent
// and clock. The zero value is for production.
type Options = entry.Options

// API is somebody's HTTP API as an operator describes it, for kind generic.
type API = entry.API
