// Package run carries out: it compares the tasks that a platform's database says are being
// worked on with the sandboxes that exist at its providers, and repairs every disagreement
// within a budget. What is decided, package decide decides.
//
// # A pass
//
// A pass observes, judges, plans, records, acts and confirms, in this order.
//
//   - Observe: t0 is the task database's clock. Providers are listed after t0, rows
//     are read after the listings end. The order decides the race: a row that was
//     written before its sandbox was listed is always seen with it.
//   - Judge and plan are pure functions of a [reconcile.Snapshot] and a [reconcile.Policy]: no clock, no
//     I/O, no context. The same snapshot gives the same bytes.
//   - Record writes findings and the actions they call for in one transaction.
//   - Act claims one action after the other in the ledger and gathers the facts of this
//     moment. The ruling of [decide.MayAct] on them decides; what it allows is done with a
//     guarded write or a terminate by the provider's immutable id.
//   - Confirm looks again until the provider says gone.
//
// [Reconciler.Once] does all of it in one process. [Reconciler.Pass] ends after Record and hands
// what is to be done to a [reconcile.Queue]; a [Worker] in any process carries it out. A worker holds
// no pass lease: it claims each action for itself, sees the world as the newest pass
// recorded it, with the live tasks of now, and looks again at its own subject in any case.
// Right before an action it asks whether its claim still stands and what operators ask for now.
//
// # What always holds
//
// docs/design.md has the fifteen properties, and under each what keeps it: guards, checks of
// the simulation, tests. It has the picture of a pass, too; docs/glossary.md has the words.
//
// # Clock domains
//
// There are three clocks and they never mix: rows are compared with the task
// database's now ([reconcile.Task.AsOf]), provider stamps with the provider's Date header
// ([reconcile.Sandbox.AsOf]), sightings with the ledger's now ([reconcile.Memory.Now]).
//
// # Decisions
//
//   - 2026-11-21: an action's id is derived from its pass, rule, subject and step, so
//     that a replay gives the same bytes; it is also the mark left on the task row.
//   - 2026-11-21: a sandbox that once named a task and no longer does (labels lost) is
//     still explained by the task that the ledger remembers for it.
//   - 2026-11-21: a task database that may be the wrong one holds every rule that rests on a
//     row, also deadlines and stops, which are authoritative otherwise.
//   - 2026-11-21: a terminate that the provider refuses stays open and is tried again after
//     pauses that double; closing it would let each pass plan it again and starve the others.
//   - 2026-11-21: a sign of life from the future counts from when the ledger first saw it.
//   - 2026-11-21: silence counts while others are heard: when the event pipeline stops, nobody
//     is taken for dead before the freeze can know.
//   - 2026-11-21: evidence is saved inside the terminate step, so that one orphan is one
//     step and budgets count what people count.
package run
