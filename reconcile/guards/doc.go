// Package guards reads the guards that are marked in the code and builds the program
// without them, one at a time, so that a test can show what each is for.
//
// A guard is whatever keeps the janitor from harming something, from doing it twice, from
// losing or repeating it, from starving or from lying. It is marked by a comment of one
// line, directly above the statement, the case or the element that it stands in:
//
//	//guard:orphan-unread P3
//	if s.Fate == FateUnread {
//
// The first word is its name, the second the property that it carries: P1 to P15 of the
// design, or harm, once, lost, live. A row of guards.txt says what would happen without it,
// after, in backquotes, what "without it" means where the statement does not tell:
//
//	orphan-unread a sandbox whose task was not read would be ended
//
//	nothing      an if or a case never holds; any other statement is skipped
//	`-X`         the operand X of a chain of || or && is left out
//	`X => Y`     the expression X has the value Y
//	`= Y`        the condition, what is returned or what is assigned is Y
//
// No switch is in the program. [Overlay] writes a copy of the marked files, for go test
// -overlay, in which each guard asks a switch, and the package of the switch. All lines keep their numbers.
//
// Guards in SQL are marked by a comment line above theirs, and are taken out with that line:
//
//	-- guard:claim-open once
//	AND closed_at IS NULL
package guards

//go:generate go test -run ^TestDocument$ . -update-document
