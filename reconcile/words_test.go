package reconcile

import (
	"math"
	"testing"
	"time"
	"unicode/utf8"
)

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 1500 * time.Millisecond: "1.5s", 9999 * time.Millisecond: "9.9s",
		10500 * time.Millisecond: "10s",
		time.Minute:              "1m", 90 * time.Second: "1m30s", time.Hour: "1h", time.Hour + time.Second: "1h0m1s",
		90 * time.Minute: "1h30m",
		-5 * time.Second: "-5s", forever: "ever", -forever: "-ever", math.MinInt64: "-ever",
		// no positive twin: must not recurse for ever
	} {
		if got := short(d); got != want {
			t.Errorf("short(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"}, {"exactly10!", 10, "exactly10!"}, {"more than ten", 10, "more than …"},
		{"two\nlines\tof  text", 40, "two lines of text"}, {"", 5, ""},
		{"\xff bad", 20, "\ufffd bad"}, {"ééé", 3, "é…"},
		{"red \x1b[31mtext\x00", 40, "red [31mtext"},
	} {
		got := clip(c.text, c.n)
		if c.text == "\xff bad" {
			if !utf8.ValidString(got) {
				t.Errorf("clip(%q) = %q, want valid text", c.text, got)
			}
			continue
		}
		if got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

func TestStampAndMark(t *testing.T) {
	if got := stamp(time.Time{}); got != "never" {
		t.Errorf("stamp of no time = %q, want never", got)
	}
	if got := stamp(taskNow.In(time.FixedZone("x", 3600))); got != "2026-03-01 12:00:00" {
		t.Errorf("stamp = %q, want UTC", got)
	}
	for text, want := range map[string]bool{
		"gone [sandkeeper a1]": true, "[sandkeeper a1]": true, "gone [sandkeeper a1] ": true, "": false, "quota exceeded": false,
		"[sandkeeper a1] and then the platform wrote on": false, "list [1]": false,
	} {
		if got := marked(text); got != want {
			t.Errorf("marked(%q) = %v, want %v", text, got, want)
		}
	}
}

// TestEndOfDays: a row with a time beyond what a duration can hold stops nobody.
func TestEndOfDays(t *testing.T) {
	w := newWorld(t, anchor, "task t1 running started=1h; find t1 none; row t2 completed updated=1h; "+
		"box daytona/s2 running task=t2")
	end := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	task := &w.s.Tasks[0]
	for _, at := range []*time.Time{&task.Events.Heartbeat, &task.DeadlineAt, &task.AssignedAt, &task.UpdatedAt,
		&task.HeartbeatAt} {
		*at = end
	}
	row := w.s.Rows["t2"]
	row.KeepAliveUntil, row.UpdatedAt, row.ActivityAt = end, end, end
	w.s.Rows["t2"] = row
	_, p := w.plan()
	if len(p.Steps) != 0 {
		t.Errorf("steps = %q, want none: its worker gave a life sign in the year 9999", stepLines(p))
	}
}
