// Package view answers what a rule asks of a snapshot: what was heard of a worker and since when,
// whose a sandbox is, where a task's sandbox may be, and what may be believed of the sources.
// It judges nothing, and is pure: no clock, no I/O, no context.
//
// A [View] has three layers, and none asks one above it. Signs: times and ages, marks, heartbeats,
// probes, quarantines. Places: links, successors of a name, accounts that are seen twice. On
// top, trust: in the tasks, the listings, the links, the events, the clocks and the probes.
package view
