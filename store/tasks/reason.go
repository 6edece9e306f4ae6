package tasks

import (
	"unicode/utf8"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// fit is the reason as the column can keep it: plain text of at most limit characters (0
// is any number), shortened in the middle, so that the mark at its end is whole.
func fit(reason string, limit int) string {
	reason = text.Stored(reason, "?")
	if limit <= 0 || utf8.RuneCountInString(reason) <= limit {
		return reason
	}
	text, mark := reconcile.SplitMark(reason)
	room := limit - utf8.RuneCountInString(mark)
	if room <= 0 {
		return string([]rune(mark)[max(0, -room):]) // the end of the mark; `check` says that the column is too short
	}
	const cut = "... "
	if room <= len(cut) {
		return string([]rune(text)[:room]) + mark
	}
	return string([]rune(text)[:room-len(cut)]) + cut + mark
}

// reasonLimit is how many characters of the reason fit into every column that takes it.
func (s *statements) reasonLimit(ch change) int {
	limit := 0
	for _, a := range ch.sets {
		if n := s.cat.sets[a.name].limit; a.reason && n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	return limit
}
