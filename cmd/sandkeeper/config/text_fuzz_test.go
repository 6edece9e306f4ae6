package config

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// FuzzScalars: a value that is one word is within its bounds, and what it prints as reads as
// the same value.
func FuzzScalars(f *testing.F) {
	for _, text := range []string{"30s", "5m", "30d", "1d12h", "0", "1.5h", "-1s", "+1s", "9223372036854775807ns", "100000d", "99999d24h", "d", "1d+1s",
		"10%", "0.1", "1", "100%", " 5 %", "1e-9", "0x1p-2%", "NaN", "Inf%", "20/s", "50/m", "1000/h", "1000000/s", "0/s", "20/d", "+5/s",
		"true", "false", "off", "observe", "enforce", "10.0.0.0/8", "::1/128", "fe80::1%eth0", "10.1.2.3/33", "debug", "2147483648", "-2147483648", "0008"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for of, parse := range textParsers {
			value, bad := parse(text)
			if bad != nil {
				if bad.problem == "" || bad.fix == "" {
					t.Errorf("%q is refused as %s without a problem or a fix", text, of)
				}
				continue
			}
			printed, ok := scalarText(reflect.ValueOf(value))
			if !ok || of == reflect.TypeFor[Secret]() || of == reflect.TypeFor[string]() || of == reflect.TypeFor[CronLine]() {
				continue
			}
			again, bad := parse(strings.Trim(printed, `"`))
			if bad != nil || !reflect.DeepEqual(again, value) {
				t.Errorf("%q as %s is %v, prints as %s and reads as %v, %+v", text, of, value, printed, again, bad)
			}
			if why := outOfBounds(value); why != "" {
				t.Errorf("%q as %s is %v, which is %s", text, of, value, why)
			}
		}
	})
}

func outOfBounds(value any) string {
	switch x := value.(type) {
	case Threshold:
		if x != AutoThreshold {
			return outOfBounds(time.Duration(x))
		}
	case time.Duration:
		if again, bad := parseDuration(text.Exact(x)); bad != nil || again != x {
			return fmt.Sprintf("shown as %s, which reads as %s", text.Exact(x), again)
		}
		if x < 0 || x >= 100000*day {
			return "negative or as long as 100000 days"
		}
	case Percent:
		if !(x > 0 && x <= 1) {
			return "no part of a whole"
		}
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return "no number of 0 or more"
		}
	case Rate:
		if x.PerSecond() <= 0 || math.IsInf(x.PerSecond(), 0) || x.PerMinute() < 0 {
			return "no rate"
		}
	}
	return ""
}

// FuzzCronLine: a line that is accepted comes true for ever, each time later than the one
// before, and never after a longer gap than it says.
func FuzzCronLine(f *testing.F) {
	for _, text := range []string{"@every 15s", "@every 1h30m", "@hourly", "@daily", "*/5 * * * *", "0 0 30 2 *", "0 0 29 2 *", "0 0 0 29 2 *", "59 59 23 31 12 *",
		"0 0 29 2 1", "TZ=Europe/Berlin 30 2 * * *", "CRON_TZ=UTC * * * * *", "TZ=", "TZ=UTC @every 5s", "@every -1s", "@every 1.5s", "@every 999999h", "@reboot",
		"1-5,10-20/3 * * jan-mar mon-fri", "*/0 * * * *", "? ? ? ? ?", "60 * * * *", "* * * * * * *", "0 0 1 1 0", "0 0 31 */2 *", ", * * * *", "* , * * *", "0 0 , * 1", "* * * , *"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		line, bad := parseCronLine(text)
		if bad != nil {
			return
		}
		if line.Text != text || line.Gap < time.Second {
			t.Fatalf("parseCronLine(%q) = %q with a gap of %s", text, line.Text, line.Gap)
		}
		// Where clocks are put forward or back a gap may be longer, by hours.
		slack := time.Duration(0)
		if spec, ok := line.Schedule.(*cron.SpecSchedule); ok && spec.Location != time.UTC && strings.Contains(text, "TZ=") {
			slack = 48 * time.Hour
		}
		at := time.Date(2026, 2, 27, 22, 59, 58, 0, time.UTC)
		for n := 0; n < 20 && at.Year() < 2060; n++ { // the library looks no further than 5 years, as from 2096 to 2104
			next := line.Schedule.Next(at)
			if !next.After(at) || next.Sub(at) > line.Gap+slack && next.Sub(at) > time.Second {
				t.Fatalf("%q: after %s comes %s, with a gap of %s", text, at, next, line.Gap)
			}
			at = next
		}
	})
}
