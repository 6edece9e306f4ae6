package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// asked is the wait that an answer asks for: by Retry-After in any form, else by the
// vendor's own headers.
func (c *Client) asked(a Answer) (time.Duration, bool) {
	if wait, ok := retryAfter(a.Header, a.Date); ok {
		return wait, true
	}
	return c.dialect.Wait(a)
}

// retryAfter is the longest wait that the headers ask for: Retry-After, and the forms with
// the limiter's name behind it, in seconds or as a date.
func retryAfter(h http.Header, date time.Time) (time.Duration, bool) {
	var longest time.Duration
	found := false
	for name, values := range h {
		if rest, ok := strings.CutPrefix(name, "Retry-After"); !ok || rest != "" && rest[0] != '-' {
			continue
		}
		for _, value := range values {
			if wait, ok := parseWait(strings.TrimSpace(value), date); ok {
				longest, found = max(longest, wait), true
			}
		}
	}
	return longest, found
}

const longestAsked = 24 * time.Hour

// parseWait reads seconds or a date. It is never negative and never more than a day.
func parseWait(value string, date time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds == seconds {
		seconds = min(max(seconds, 0), longestAsked.Seconds())
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(date), 0), longestAsked), true
}

// Resets makes a hook for [Dialect.Wait] of headers that say when a limit's window ends:
// X-RateLimit-Reset and its like, as seconds from now or as the moment, in seconds or
// milliseconds since 1970. They count only with a 409, 429 or 503: on other answers they
// are mere information. The first header that is there counts.
func Resets(names ...string) func(Answer) (time.Duration, bool) {
	return func(a Answer) (time.Duration, bool) {
		switch a.Status {
		case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		default:
			return 0, false
		}
		for _, name := range names {
			if wait, ok := parseReset(strings.TrimSpace(a.Header.Get(name)), a.Date); ok {
				return wait, true
			}
		}
		return 0, false
	}
}

// parseReset tells a moment from a wait by its size: no wait is as long as the years since
// 1970.
func parseReset(value string, date time.Time) (time.Duration, bool) {
	number, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil, number != number:
		return parseWait(value, date)
	case number >= 1e15:
		return 0, false
	case number >= 1e11:
		return min(max(time.UnixMilli(int64(number)).Sub(date), 0), longestAsked), true
	case number >= 1e8:
		return min(max(time.Unix(int64(number), 0).Sub(date), 0), longestAsked), true
	}
	return parseWait(value, date)
}
