package web

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/web/webtest"
)

func TestMoments(t *testing.T) {
	cases := map[string]struct {
		got  moment
		want string
	}{
		"never":              {ago(time.Time{}, webtest.Noon), "never"},
		"just now":           {ago(webtest.Noon, webtest.Noon), "0s ago"},
		"past":               {ago(webtest.Ago(90*time.Second), webtest.Noon), "1m30s ago"},
		"future":             {ago(webtest.Noon.Add(5*time.Second), webtest.Noon), "in 5s"},
		"lasting":            {since(webtest.Ago(time.Hour), webtest.Noon), "1h"},
		"lasting of nothing": {since(time.Time{}, webtest.Noon), "never"},
		"another clock":      {exactly(webtest.Noon), "2026-02-01 12:00:00 UTC"},
		"unknown":            {exactly(time.Time{}), "unknown"},
		"no end":             {until(time.Time{}, webtest.Noon, "until resumed"), "until resumed"},
		"an end":             {until(webtest.Noon.Add(2*time.Hour), webtest.Noon, ""), "until 2026-02-01 14:00:00 UTC (in 2h)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got.Text != c.want {
				t.Errorf("text %q, want %q", c.got.Text, c.want)
			}
		})
	}
	berlin := webtest.Noon.In(time.FixedZone("CET", 3600))
	if got := exactly(berlin); got.ISO != "2026-02-01T12:00:00Z" || got.Exact != "2026-02-01 12:00:00 UTC" {
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
		if got := command("sandkeeper explain %s", id); got != want {
			t.Errorf("command(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 tasks": count(0, "task"), "1 task": count(1, "task"), "2 sandboxes": count(2, "sandbox"), "1 sandbox": count(1, "sandbox"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
