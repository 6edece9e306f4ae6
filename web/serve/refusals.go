package serve

import "sync/atomic"

// Refusals count what a process refused at its door since it began. The zero value is ready.
type Refusals struct{ logIns, hosts atomic.Int64 }

// LogIns is how many requests had a user or a password that was wrong.
func (r *Refusals) LogIns() int64 { return r.logIns.Load() }

// Hosts is how many requests asked for a name that this server does not have.
func (r *Refusals) Hosts() int64 { return r.hosts.Load() }
