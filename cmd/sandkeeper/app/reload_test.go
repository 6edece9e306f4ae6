package app

import (
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

func TestLookout(t *testing.T) {
	cases := map[string]struct {
		l     lookout
		looks []string
		want  []bool
	}{
		"nothing changes":              {lookout{read: "a"}, []string{"a", "a", "a"}, []bool{false, false, false}},
		"a change is seen twice":       {lookout{read: "a", last: "a"}, []string{"b", "b"}, []bool{false, true}},
		"a file that is being written": {lookout{read: "a", last: "a"}, []string{"b", "c", "d", "d"}, []bool{false, false, false, true}},
		"a change that is taken back":  {lookout{read: "a", last: "a"}, []string{"b", "a", "a"}, []bool{false, false, false}},
		"a refusal that may pass": {lookout{read: "a", last: "a", refused: true},
			[]string{"a", "a", "a", "a", "a", "a"}, []bool{false, false, false, false, true, false}},
		"a refusal, and a change": {lookout{read: "a", last: "a", refused: true}, []string{"b", "b"}, []bool{false, true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for i, now := range c.looks {
				if got := c.l.due(now); got != c.want[i] {
					t.Errorf("look %d at %s: due is %t, want %t", i+1, now, got, c.want[i])
				}
			}
		})
	}
}

func TestApart(t *testing.T) {
	at := func(clock string) time.Time {
		day, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return day
	}
	withSeconds := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	cases := map[string]struct {
		line string
		now  time.Time
		want time.Duration
	}{
		"every 15 seconds":              {"@every 15s", at("12:00:00"), 7500 * time.Millisecond},
		"a turn that is told of late":   {"*/15 * * * * *", at("12:00:10"), 2500 * time.Millisecond},
		"the last turns before a night": {"*/15 * 9-17 * * *", at("17:59:30"), 7500 * time.Millisecond},
		"the last turn before a night":  {"*/15 * 9-17 * * *", at("17:59:45"), 7500 * time.Millisecond},
		"the first turn after a night":  {"*/15 * 9-17 * * *", at("09:00:00"), 7500 * time.Millisecond},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			schedule, err := withSeconds.Parse(c.line)
			if err != nil {
				t.Fatal(err)
			}
			if got := betweenRuns(schedule, c.now); got != c.want {
				t.Errorf("apart at %s of %q is %s, want %s", c.now.Format(time.TimeOnly), c.line, got, c.want)
			}
		})
	}
}
