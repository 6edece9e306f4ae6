package text

import (
	"fmt"
	"strings"
)

// Unknown is the fix for a word that is none of those that are known.
func Unknown(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return DidYouMean(near)
	}
	return "known are " + strings.Join(known, ", ")
}

// DidYouMean asks for the word that was probably meant.
func DidYouMean(near string) string { return fmt.Sprintf("did you mean %q?", near) }

// Nearest is the known word that the given one most likely stands for: one that begins
// alike, else the one with the fewest letters to change; "" when none is near.
func Nearest(word string, known []string) string {
	word = strings.ToLower(word)
	if len(word) < 2 {
		return ""
	}
	best, least := "", (len(word)+1)/3+1
	for _, k := range known {
		lower := strings.ToLower(k)
		if len(word) >= 4 && k != "" && (strings.HasPrefix(lower, word) || strings.HasPrefix(word, lower)) {
			return k
		}
		if d := distance(word, lower, least); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the letters to insert, remove or change, and swapped neighbours once, to
// make b of a. It gives up at limit.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
