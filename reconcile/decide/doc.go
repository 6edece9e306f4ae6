// Package decide judges and plans: pure functions of a snapshot and a policy. No clock, no I/O, no
// context; the same data gives the same bytes. Time enters with the snapshot.
//
// [Judge] comes to one decision on every subject: each rule, one file a rule, says what it found,
// and the trust in the sources says what may rest on it. [MakePlan] makes steps of that, within
// modes, budgets and holds. What an action needs to know right before it is done is asked of
// the same [View].
package decide
