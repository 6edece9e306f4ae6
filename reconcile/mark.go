package reconcile

import "strings"

// markBegins is how a mark on a row's reason begins.
const markBegins = "[sandkeeper "

// Mark is what a guarded write leaves at the end of its reason, so that a retry after a
// crash knows its own write.
func Mark(action string) string { return markBegins + action + "]" }

// SplitMark cuts the mark off the end of a reason; "" when there is none.
func SplitMark(reason string) (text, mark string) {
	i := strings.LastIndex(reason, markBegins)
	if i < 0 || !strings.HasSuffix(reason, "]") {
		return reason, ""
	}
	return reason[:i], reason[i:]
}

// MarkedAction is the action whose mark this is.
func MarkedAction(mark string) string {
	return strings.TrimSuffix(strings.TrimPrefix(mark, markBegins), "]")
}

// Marked reports whether the error column ends with a mark of ours.
func Marked(text string) bool {
	_, mark := SplitMark(strings.TrimSpace(text))
	return mark != ""
}

// MarkedBy reports whether the error column has the mark of this action.
func MarkedBy(text, action string) bool { return strings.Contains(text, Mark(action)) }
