// Package wire holds what every adapter needs and none should write again: the client that
// makes single calls well, and the frames of what a provider is asked for.
//
//   - [Client] makes calls: the credential, a deadline for each, bounded bodies, the turn
//     that a rate gives, waits that the provider asks for, a circuit for a refused
//     credential, no redirects. [Client.Read] repeats what is safe to repeat,
//     [Client.Change] only what was not done, [Client.Once] nothing.
//   - [Dialect] is what differs between vendors: how a request is dressed, what an error
//     says, which 404 is certain, which header asks to wait.
//   - [Client.Guard] gives the same to a client that a vendor or a library brings.
//   - [Base] holds listings, compare and delete, stops and probes together: the order of
//     their steps is a guard, and the same for all.
//   - [Abilities] are the facts of an adapter that its type cannot tell.
//
// # Decisions
//
//   - 2026-11-21: moved out of the first adapter, so that a guard that one vendor taught
//     holds at all of them.
//   - 2026-11-21: which 404 and 410 mean gone is never decided here. Without a word of the
//     adapter a 404 is an error like any other.
//   - 2026-11-21: redirects are not followed at all, so the token never travels to a host
//     that the config or the control plane did not name.
package wire
