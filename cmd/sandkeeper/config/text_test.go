package config

import (
	"math"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A read is what one text is read as; no means that it is refused.
type read[T comparable] struct {
	text string
	want T
	no   bool
}

func checkReads[T comparable](t *testing.T, parse func(string) (T, *misfit), tests map[string]read[T]) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(tt.text)
			if (err != nil) != tt.no || got != tt.want {
				t.Errorf("parse(%q) = %v, %v, want %v, refused %v", tt.text, got, err, tt.want, tt.no)
			}
		})
	}
}

func TestParsePercent(t *testing.T) {
	checkReads(t, parsePercent, map[string]read[Percent]{
		"percent":           {text: "10%", want: 0.1},
		"part":              {text: "0.1", want: 0.1},
		"all":               {text: "100%", want: 1},
		"more than all":     {text: "100.1%", no: true},
		"one percent":       {text: "1%", want: 0.01},
		"one of what":       {text: "1", no: true},
		"nothing":           {text: "0%", no: true},
		"below nothing":     {text: "-1%", no: true},
		"a bare number":     {text: "10", no: true},
		"no number at all":  {text: "NaN", no: true},
		"no end":            {text: "+Inf%", no: true},
		"just the sign":     {text: "%", no: true},
		"a very small part": {text: "1e-3", want: 0.001},
	})
}

func TestParseRate(t *testing.T) {
	checkReads(t, parseRate, map[string]read[Rate]{
		"a second":         {text: "20/s", want: Rate{20, time.Second}},
		"a minute":         {text: "50/m", want: Rate{50, time.Minute}},
		"an hour":          {text: "1000/h", want: Rate{1000, time.Hour}},
		"one":              {text: "1/h", want: Rate{1, time.Hour}},
		"none":             {text: "0/s", no: true},
		"below none":       {text: "-1/s", no: true},
		"too many":         {text: "1000001/s", no: true},
		"no unit":          {text: "20", no: true},
		"an unknown unit":  {text: "20/d", no: true},
		"two units":        {text: "20/s/s", no: true},
		"parts of a thing": {text: "0.5/s", no: true},
	})
	if got := (Rate{50, time.Minute}).PerSecond(); math.Abs(got-50.0/60) > 1e-9 {
		t.Errorf("50/m = %v a second, want 0.833", got)
	}
	if got := (Rate{1000, time.Hour}).PerMinute(); got != 16 {
		t.Errorf("1000/h = %d a minute, want 16 whole ones", got)
	}
}

func TestParseMode(t *testing.T) {
	checkReads(t, parseMode, map[string]read[reconcile.Mode]{
		"off":            {text: "off", want: reconcile.Off},
		"YAML's false":   {text: "false", want: reconcile.Off},
		"YAML's true":    {text: "true", no: true},
		"observe":        {text: "observe", want: reconcile.Observe},
		"enforce":        {text: "enforce", want: reconcile.Enforce},
		"another letter": {text: "Off", no: true},
		"nothing":        {text: "", no: true},
	})
}

func TestCronLines(t *testing.T) {
	tests := map[string]struct {
		line string
		gap  time.Duration
	}{
		"every so often":              {"@every 15s", 15 * time.Second},
		"every second at least":       {"@every 1s", time.Second},
		"every minute":                {"* * * * *", time.Minute},
		"every second by stars":       {"* * * * * *", time.Second},
		"a step of seconds":           {"*/15 * * * * *", 15 * time.Second},
		"a step that does not fit":    {"*/25 * * * * *", 25 * time.Second},
		"every hour":                  {"@hourly", time.Hour},
		"office hours":                {"*/5 9-17 * * 1-5", (48+15)*time.Hour + 5*time.Minute},
		"office hours by seconds":     {"* * 9-17 * * 1-5", (48+15)*time.Hour + time.Second},
		"once a day":                  {"30 4 * * *", day},
		"once a month":                {"0 0 1 * *", 31 * day},
		"the 31st":                    {"0 0 31 * *", 61 * day},
		"a day of leap years":         {"0 0 29 2 *", 1461 * day},
		"one of two days, cron's way": {"0 0 1 * 1", 7 * day},
		"in a time zone":              {"CRON_TZ=Europe/Berlin 0 6 * * *", day},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseCronLine(tt.line)
			if err != nil || got.Gap != tt.gap {
				t.Fatalf("parseCronLine(%q) gap = %v, %v, want %v", tt.line, got.Gap, err, tt.gap)
			}
			checkGap(t, got)
		})
	}
}

// checkGap holds the gap against the times that the schedule itself gives.
func checkGap(t *testing.T, line CronLine) {
	t.Helper()
	at := line.Schedule.Next(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	for range 2000 {
		next := line.Schedule.Next(at)
		if next.Sub(at) > line.Gap+time.Hour { // an hour for summer time
			t.Fatalf("%q waits %v after %v, longer than its gap of %v", line.Text, next.Sub(at), at, line.Gap)
		}
		at = next
	}
}

func TestExpandVariables(t *testing.T) {
	getenv := env(map[string]string{"A": "a", "EMPTY": "", "NESTED": "${A}", "YAML": "x: [1]\n# y"})
	tests := map[string]struct {
		text, want, problem string
	}{
		"nothing to expand":         {text: "a $A {A} $$ }", want: "a $A {A} $$ }"},
		"a variable":                {text: "${A}", want: "a"},
		"variables within a text":   {text: "x${A}y${A}z", want: "xayaz"},
		"an empty one":              {text: "x${EMPTY}y", want: "xy"},
		"the default of a missing":  {text: "${NOPE:-d e}", want: "d e"},
		"the default of an empty":   {text: "${EMPTY:-d}", want: "d"},
		"a default not needed":      {text: "${A:-d}", want: "a"},
		"an empty default":          {text: "x${NOPE:-}y", want: "xy"},
		"escaped":                   {text: "$${A}", want: "${A}"},
		"escaped before a variable": {text: "$${A}${A}", want: "${A}a"},
		"its value is not expanded": {text: "${NESTED}", want: "${A}"},
		"its value is not YAML":     {text: "${YAML}", want: "x: [1]\n# y"},
		"a missing one":             {text: "${NOPE}", problem: "needs the variable NOPE, which is not set"},
		"no name":                   {text: "${}", problem: "holds a ${…} that is no variable"},
		"a digit first":             {text: "${1A}", problem: "holds a ${…} that is no variable"},
		"another shell's default":   {text: "${A-b}", problem: "holds a ${…} that is no variable"},
		"a variable in a default":   {text: "${NOPE:-${A}}", problem: "holds a ${…} that is no variable"},
		"not closed":                {text: "${A", problem: "holds a ${ that is not closed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := expandVariables(tt.text, getenv)
			problem := ""
			if err != nil {
				problem = err.problem
			}
			if got != tt.want || problem != tt.problem {
				t.Errorf("expandVariables(%q) = %q, %q, want %q, %q", tt.text, got, problem, tt.want, tt.problem)
			}
		})
	}
}
