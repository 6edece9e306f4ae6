package text

import (
	"fmt"
	"math"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Duration is how long something takes, for people: 2m13s, 1d6h, 340ms. Nothing below a
// second is said of what is longer. "ever" is the longest one.
func Duration(d time.Duration) string {
	switch {
	case d == math.MaxInt64:
		return "ever"
	case d < 0:
		return "-" + Duration(-max(d, -math.MaxInt64)) // the least duration has no opposite
	case d < time.Second:
		return Exact(d.Truncate(time.Millisecond))
	}
	return Exact(d.Truncate(time.Second))
}

// Exact is a duration in the same form with nothing left out, as the config file has it.
func Exact(d time.Duration) string {
	var days string
	if d >= day {
		days = fmt.Sprintf("%dd", d/day)
		if d %= day; d == 0 {
			return days
		}
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return days + rest
}

// Coarse is a [Duration] in its two largest units: of three days nobody asks for
// the seconds. One below 0, of a clock that was set back, is 0.
func Coarse(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d >= day:
		d = d.Truncate(time.Hour)
	case d >= time.Hour:
		d = d.Truncate(time.Minute)
	}
	return Duration(d)
}

// Time is a moment for people, in UTC; "never" for none.
func Time(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
