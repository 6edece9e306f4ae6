package ui

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/web/webtest"
)

func TestMoments(t *testing.T) {
	cases := map[string]struct {
		got  Moment
		want string
	}{
		"never":              {Ago(time.Time{}, webtest.Noon), "never"},
		"just now":           {Ago(webtest.Noon, webtest.Noon), "0s ago"},
		"past":               {Ago(webtest.Ago(90*time.Second), webtest.Noon), "1m30s ago"},
		"future":             {Ago(webtest.Noon.Add(5*time.Second), webtest.Noon), "in 5s"},
		"lasting":            {Since(webtest.Ago(time.Hour), webtest.Noon), "1h"},
		"lasting of nothing": {Since(time.Time{}, webtest.Noon), "never"},
		"another clock":      {Exactly(webtest.Noon), "2026-02-01 12:00:00 UTC"},
		"unknown":            {Exactly(time.Time{}), "unknown"},
		"no end":             {Until(time.Time{}, webtest.Noon, "until resumed"), "until resumed"},
		"an end":             {Until(webtest.Noon.Add(2*time.Hour), webtest.Noon, ""), "until 2026-02-01 14:00:00 UTC (in 2h)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got.Text != c.want {
				t.Errorf("text %q, want %q", c.got.Text, c.want)
			}
		})
	}
	berlin := webtest.Noon.In(time.FixedZone("CET", 3600))
	if got := Exactly(berlin); got.ISO != "2026-02-01T12:00:00Z" || got.Exact != "2026-02-01 12:00:00 UTC" {
		t.Errorf("of another zone: %+v, want UTC", got)
	}
}

func TestCommand(t *testing.T) {
	cases := map[string]string{
		"8c02ffe6-26b9": "sandkeeper explain 8c02ffe6-26b9",
		"daytona/sb_1":  "sandkeeper explain daytona/sb_1",
		"":              "",
		"-x":            "",
		"=ls":           "",
		"a b":           "",
		"a;b":           "",
		"$(id)":         "",
		"a`b`":          "",
		"a\nb":          "",
		"ä":             "",
		"~root":         "",
		"*":             "",
	}
	for id, want := range cases {
		if got := Command("sandkeeper explain %s", id); got != want {
			t.Errorf("command(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 tasks": Count(0, "task"), "1 task": Count(1, "task"), "2 sandboxes": Count(2, "sandbox"), "1 sandbox": Count(1, "sandbox"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
