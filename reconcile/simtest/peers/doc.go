// Package peers holds the clean-up rules of other systems, as their authors published them,
// so that they can be run in the simulated worlds that sandkeeper is proved in: same rows,
// same listings, same faults.
//
// Each is a [Policy]: pure sweeps that say what they would fail and what they would end. One
// loop, the [Janitor], reads for them and carries it out. What is published is kept as it is;
// where nothing is said, or where a rule does not fit a table of tasks, the reading is the one
// that is kinder to them. docs/head-to-head.md names the sources and what is not fair about it.
package peers
