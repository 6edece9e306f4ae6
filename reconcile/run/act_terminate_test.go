package run

import "testing"

// TestLogsOfCleanUps: of what one pass found few logs are read, however many passes are made while it is worked at.
func TestLogsOfCleanUps(t *testing.T) {
	var l cleanUpLogs
	read := map[int64]int{}
	for range 5 * logsOfCleanUps {
		for pass := range int64(3) {
			if l.may(pass) {
				read[pass]++
			}
		}
	}
	for pass := range int64(3) {
		if read[pass] != logsOfCleanUps {
			t.Errorf("%d logs of what pass %d found, want %d", read[pass], pass, logsOfCleanUps)
		}
	}
	for pass := range int64(1000) {
		l.may(pass)
	}
	if len(l.of) > 100 {
		t.Errorf("%d passes are kept", len(l.of))
	}
}
