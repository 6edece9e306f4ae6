package run

import (
	"testing"
	"time"
)

func TestLookAgain(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 2 * time.Second, 10*time.Second - 1: 2 * time.Second, 10 * time.Second: 6 * time.Second,
		time.Minute: 15 * time.Second, 4 * time.Minute: time.Minute, time.Hour: time.Minute,
	} {
		if got := lookAgain(age); got != want {
			t.Errorf("%s after it was accepted: again in %s, want %s", age, got, want)
		}
	}
}
