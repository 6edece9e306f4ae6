package reconcile

import (
	"testing"
	"time"
)

// TestWatch: what the ledger timed itself starts anew after a time in which nobody looked.
func TestWatch(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	since := now.Add(-time.Hour)
	for name, c := range map[string]struct {
		last, trusted time.Duration
		fresh         bool
		want          time.Time
	}{
		"a pass a moment ago":             {time.Minute, 0, false, since},
		"as late as may be":               {4 * time.Minute, 0, false, since},
		"nobody looked":                   {4*time.Minute + time.Second, 0, false, now},
		"a pass that a listing failed in": {time.Hour, time.Minute, false, since},
		"a ledger that was made just now": {time.Minute, 0, true, now},
		"no pass ever":                    {0, 0, false, now},
	} {
		m := &Memory{Now: now, WatchSince: since, Fresh: c.fresh}
		if c.last > 0 {
			m.LastPass = now.Add(-c.last)
		}
		if c.trusted > 0 {
			m.Sources = map[string]SourceSeen{SourceTasks: {Trusted: true, LastTrusted: now.Add(-c.trusted)}}
		}
		if got := Watch(m, &Policy{Full: 2 * time.Minute}); !got.Equal(c.want) {
			t.Errorf("%s: watched since %s, want %s", name, got, c.want)
		}
	}
}

func TestWasLive(t *testing.T) {
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		seen TaskSeen
		want bool
	}{
		"it is":                      {TaskSeen{State: TaskRunning, Since: at, FirstSeen: at, Live: true}, true},
		"its row is gone":            {TaskSeen{State: TaskRunning, Since: at, FirstSeen: at}, true},
		"it ended since":             {TaskSeen{State: TaskFailed, Since: at, FirstSeen: at.Add(-1)}, true},
		"it was over at first sight": {TaskSeen{State: TaskFailed, Since: at, FirstSeen: at}, false},
	} {
		if got := c.seen.WasLive(); got != c.want {
			t.Errorf("%s: was live = %t", name, got)
		}
	}
}
