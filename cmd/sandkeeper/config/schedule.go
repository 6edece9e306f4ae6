package config

import (
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// A CronLine says when something happens, as a cron line.
type CronLine struct {
	Text     string
	Schedule cron.Schedule
	Gap      time.Duration // the longest between two times; changes of summer time aside
}

func everyLine(text string, every time.Duration) CronLine {
	return CronLine{text, cron.Every(every), every}
}

// cronFix is how a line is written.
const cronFix = `write it like "@every 15s", "*/5 * * * *" or "@hourly"`

var cronParser = cron.NewParser(
	cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// parseCronLine reads cron lines, with seconds or without, and @every. A line that never
// comes true is refused: its next time is zero, which makes a busy loop.
func parseCronLine(text string) (CronLine, *misfit) {
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		return parseEvery(text, every)
	}
	if strings.Contains(text, "TZ=") && !strings.Contains(text, " ") {
		return CronLine{}, &misfit{problem: "is not a cron line", fix: cronFix} // the parser would panic
	}
	schedule, err := cronParser.Parse(text)
	if err != nil {
		return CronLine{}, &misfit{problem: "is not a cron line", fix: cronFix, detail: err.Error()}
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		// unreachable unless the library grows kinds, or the line is a time zone and @every
		return CronLine{}, &misfit{problem: "is not a cron line", fix: cronFix}
	}
	gap := longestGap(spec)
	if gap == 0 {
		return CronLine{}, &misfit{problem: "never comes true", fix: cronFix}
	}
	return CronLine{text, spec, gap}, nil
}

// parseEvery reads what the cron library does after @every, Go's durations, so no days.
func parseEvery(text, every string) (CronLine, *misfit) {
	d, err := time.ParseDuration(strings.TrimSpace(every))
	switch {
	case err != nil:
		return CronLine{}, &misfit{problem: "is not a cron line", fix: cronFix}
	case d < time.Second:
		return CronLine{}, &misfit{problem: "is more often than every second", fix: "use at least @every 1s"}
	case d%time.Second != 0:
		return CronLine{}, &misfit{problem: "is not in whole seconds", fix: "use whole seconds"}
	}
	return everyLine(text, d), nil
}

// longestGap is the longest time between two moments of a line, 0 when it has none. The
// times of day are all pairs of its hours, minutes and seconds, so the longest gap is one
// of those between neighbours on one level.
func longestGap(s *cron.SpecSchedule) time.Duration {
	seconds, minutes, hours, days := ones(s.Second), ones(s.Minute), ones(s.Hour), matchingDays(s)
	if len(seconds) == 0 || len(minutes) == 0 || len(hours) == 0 || len(days) < 2 {
		return 0 // the library reads a lone comma as no time at all
	}
	var g gaps
	g.add(seconds, time.Second)
	g.add(minutes, time.Minute)
	g.add(hours, time.Hour)
	g.add(days, day)
	return g.longest
}

// gaps are the longest gap so far, and the time from the first moment to the last.
type gaps struct{ longest, span time.Duration }

// add goes one level up: the moments so far repeat at each of the ticks.
func (g *gaps) add(ticks []int, unit time.Duration) {
	for i := 1; i < len(ticks); i++ {
		g.longest = max(g.longest, time.Duration(ticks[i]-ticks[i-1])*unit-g.span)
	}
	g.span += time.Duration(ticks[len(ticks)-1]-ticks[0]) * unit
}

// ones are the positions of the set bits. The star bit, the highest, is none.
func ones(set uint64) []int {
	var at []int
	for set &^= starBit; set != 0; set &= set - 1 {
		at = append(at, bits.TrailingZeros64(set))
	}
	return at
}

// starBit is how robfig/cron marks a field that was a star.
const starBit = 1 << 63

// matchingDays are the days of twelve years, which have three leap days, on which the
// line comes true.
func matchingDays(s *cron.SpecSchedule) []int {
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var days []int
	for n := range 12*365 + 3 {
		if onDay(s, first.AddDate(0, 0, n)) {
			days = append(days, n)
		}
	}
	return days
}

// onDay is cron's own rule: with a star in one of the two, both days must match; else one.
func onDay(s *cron.SpecSchedule, t time.Time) bool {
	month := s.Month>>uint(t.Month())&1 == 1
	dom := s.Dom>>uint(t.Day())&1 == 1
	dow := s.Dow>>uint(t.Weekday())&1 == 1
	if s.Dom&starBit != 0 || s.Dow&starBit != 0 {
		return month && dom && dow
	}
	return month && (dom || dow)
}
