// Package backtest holds the rules against the history of a platform: for each finished task it makes
// the snapshots that a pass would have seen at the moments when a silence or an age crosses a
// threshold, and asks the rules' own code what they come to. From that follow how often a rule would
// have been wrong, with an upper bound, and the threshold that would keep the bound.
//
// It is pure: no clock, no I/O, no context. It re-implements no rule: [Moment] makes snapshots, package
// decide judges them.
package backtest
