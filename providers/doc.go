// Package providers opens the places where sandboxes run. Each kind is an adapter in a
// folder of its own that gives [github.com/sandkeeper/sandkeeper/reconcile] what it asks of
// a provider: list, get, find, terminate, probe, and what it can of templates, logs, usage
// and quotas. docs/providers.md, which [Guide] writes, says what each can.
//
// # How to add a provider
//
//  1. Collect the wire facts first: what list and get really show, what a delete answers,
//     what keeps a sandbox alive or wakes it, what each error means. An answer that means
//     gone must be certain of it, and nothing else may.
//  2. Write the protocol simulator, <kind>/<kind>test, over a [simulated.World], behind a
//     [wiretest.Front]: it journals the calls, stamps the world's clock and lets the
//     scripted faults happen. The vendor's own client should be able to drive it.
//  3. Write the adapter, <kind>/, of [wire.Client] and [wire.Base], or of a client that is
//     well kept, behind [wire.Client.Guard]. Map the vendor's states onto
//     [reconcile.SandboxState]; a word that you do not know stays unknown, with its raw
//     form. Let [entry.Entry.Mark] say what is owned and which task is named. Leave out
//     the methods of what the provider cannot; where a configuration decides, return
//     [wire.Unable].
//  4. Declare the keys of its entry in its variable Keys: the config, its messages and its
//     schema are made from them. Say what it can in its variable Abilities, and run
//     [providertest.Suite] over the simulator, by real HTTP: what is claimed there is proven,
//     the rest must be denied honestly. [providertest.Bench] measures how fast it reads a
//     listing.
//  5. Write <kind>/guide.md, embedded as Guide: the credential with the least rights, the
//     keys of the entry, the traps. One import and one line in providers.go, then
//     go generate ./providers.
//
// The files of an adapter, beside its tests: <kind>.go (package comment, Keys, Abilities,
// Guide, New, the dialect), wire.go (the vendor's fields and states), list.go, sandbox.go (get and
// terminate), suspend.go, probe.go, templates.go, account.go (quotas and check). Together
// they are a few hundred lines of code each; what two adapters need belongs into wire.
//
// # Decisions
//
//   - 2026-11-21: entries, ownership and links are in the leaf package entry, because the
//     adapters need them and this package imports the adapters.
//   - 2026-11-21: no adapter repeats a terminate after an answer that says nothing (a cut
//     connection, a 500): the caller looks again, and decides again.
//   - 2026-11-21: what an adapter can do is data beside its type, shown to operators and
//     proven by the suite, so that the two never differ.
package providers
