package text

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
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

var daysFirst = regexp.MustCompile(`^([0-9]{1,5})d(.*)$`)

// ParseDuration reads what [Exact] writes, and says whether it is a duration: one of Go's, or
// days, also in front of one: 30d, 1d12h, 0. None is below 0.
func ParseDuration(s string) (time.Duration, bool) {
	days, rest := time.Duration(0), s
	if m := daysFirst.FindStringSubmatch(s); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, false // unreachable: the expression takes digits only
		}
		days, rest = time.Duration(n)*day, m[2]
		if rest == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || rest[0] == '+' || d >= 100000*day-days { // what is above could not be written in days
		return 0, false
	}
	return days + d, true
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

// Later is a moment that is told after another one: without its day where that is the same.
func Later(after, t time.Time) string {
	if said := Time(t); t.IsZero() || after.IsZero() || said[:10] != Time(after)[:10] {
		return said
	}
	return t.UTC().Format("15:04:05 UTC")
}
