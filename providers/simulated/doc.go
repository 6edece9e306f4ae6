// Package simulated is a provider's world in memory: sandboxes in every state, templates,
// quotas, transitions that take time, and faults that are scripted. It is the provider of
// kind simulated, and what the protocol simulators of the other kinds show through their
// vendors' wire formats.
//
// Nothing in it runs by itself: the world is brought up to its clock whenever it is
// looked at, so a simulation that owns the clock owns everything.
//
// A [World] is set up with Put and changed with Change, which are the hand of the test;
// Create, Destroy, Halt and the others are what a call of a client does. Calls are
// journaled by [World.Called], which also says which fault strikes them.
package simulated
