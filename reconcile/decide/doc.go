// Package decide judges and plans: pure functions of a snapshot and a policy. No clock, no I/O, no
// context; the same data gives the same bytes. Time enters with the snapshot.
//
// [Judge] comes to one decision on every subject: each rule (package rules) says what it found,
// and what package view answers of the sources says what may rest on it. [MakePlan] makes steps
// of that, within modes, budgets and holds. Right before an action is done, [MayAct] rules on it
// by the same view and by facts that were read again.
package decide
