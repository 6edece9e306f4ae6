// Package providers opens the places where sandboxes run. Each kind is an adapter in a
// folder of its own that gives [github.com/sandkeeper/sandkeeper/reconcile] what it asks of
// a provider: list, get, find, terminate, probe, and what it can of templates, logs, usage
// and quotas.
//
// # How to add a provider
//
//  1. Collect the wire facts first: what list and get really show, what a delete answers,
//     what keeps a sandbox alive, what each error means. A get that answers 404 must mean
//     gone, and nothing else may.
//  2. Write the protocol simulator, <kind>/<kind>test, over a [simulated.World]: the
//     vendor's own client should be able to drive it.
//  3. Write the adapter, <kind>/<kind>.go, with a thin client. Map the vendor's states onto
//     [reconcile.SandboxState]; a word that you do not know stays unknown, with its raw
//     form. Let [entry.Entry.Mark] say what is owned and which task is named.
//  4. Run the conformance suite, [providertest.Run], over the simulator: it holds the
//     promises of [reconcile.Provider], above all that unknown is never gone.
//  5. Add the kind to the one switch in [Open].
//
// # Decisions
//
//   - 2026-11-21: entries, ownership and links are in the leaf package entry, because the
//     adapters need them and this package imports the adapters.
//   - 2026-11-21: no adapter repeats a terminate after an answer that says nothing (a cut
//     connection, a 500): the caller looks again, and decides again.
package providers
