package text

import (
	"math"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Microsecond: "0s", 43 * time.Millisecond: "43ms", time.Second - 1: "999ms", time.Second: "1s",
		1500 * time.Millisecond: "1s", 10500 * time.Millisecond: "10s", time.Minute: "1m", 133 * time.Second: "2m13s",
		time.Hour: "1h", time.Hour + time.Second: "1h0m1s", 90 * time.Minute: "1h30m", 24*time.Hour - 1: "23h59m59s",
		24 * time.Hour: "1d", 30 * day: "30d", 30*time.Hour + 5*time.Second: "1d6h0m5s", day + time.Second: "1d1s",
		-5 * time.Second: "-5s", math.MaxInt64: "ever", -math.MaxInt64: "-ever", math.MinInt64: "-ever",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestCoarse(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 6*time.Minute + 12*time.Second: "6m12s", time.Hour - 1: "59m59s",
		3*time.Hour + 5*time.Minute + time.Second: "3h5m", 24*time.Hour - 1: "23h59m", 50*time.Hour + time.Minute: "2d2h",
	} {
		if got := Coarse(d); got != want {
			t.Errorf("Coarse(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Millisecond: "1.5s", 5 * time.Minute: "5m", 36 * time.Hour: "1d12h", day + 1: "1d1ns",
	} {
		if got := Exact(d); got != want {
			t.Errorf("Exact(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want time.Duration
		no   bool
	}{
		"Go's own":            {text: "1m30s", want: 90 * time.Second},
		"days":                {text: "30d", want: 30 * day},
		"days and hours":      {text: "1d12h", want: 36 * time.Hour},
		"a bare zero":         {text: "0"},
		"no days":             {text: "0d"},
		"a bare number":       {text: "5", no: true},
		"below zero":          {text: "-5s", no: true},
		"a plus":              {text: "+5s", no: true},
		"days below zero":     {text: "1d-5s", no: true},
		"half a day":          {text: "1.5d", no: true},
		"days at the end":     {text: "12h1d", no: true},
		"nothing":             {text: "", no: true},
		"a blank":             {text: "5 m", no: true},
		"the most days":       {text: "99999d", want: 99999 * day},
		"more than the most":  {text: "99999d25h", no: true},
		"more than fits":      {text: "9999999h", no: true},
		"more digits than go": {text: "999999d", no: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseDuration(tt.text)
			if ok == tt.no || got != tt.want {
				t.Errorf("ParseDuration(%q) = %v, %v, want %v, refused %v", tt.text, got, ok, tt.want, tt.no)
			}
		})
	}
}

func TestTime(t *testing.T) {
	if got := Time(time.Time{}); got != "never" {
		t.Errorf("Time of none = %q, want never", got)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 9, time.UTC)
	if got := Time(noon.In(time.FixedZone("x", 3600))); got != "2026-03-01 12:00:00 UTC" {
		t.Errorf("Time = %q, want UTC", got)
	}
}
