package wire

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
)

// Only one call tries a refused credential, a sandbox's own answer never does, and what is
// no word on the credential leaves the circuit as it is.
func TestCircuitTries(t *testing.T) {
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	var c circuit
	c.refused(at)
	later := at.Add(CircuitPause)
	for i, test := range []struct {
		inside, admitted bool
	}{{true, false}, {false, true}, {false, false}} {
		if err := c.admit(later, test.inside); (err == nil) != test.admitted {
			t.Errorf("call %d: admit = %v, want admitted %t", i, err, test.admitted)
		}
	}
	for _, status := range []int{429, 500, 503} {
		c, err := New(entry.Entry{URL: "https://lab.test"}, entry.Options{}, Dialect{})
		if err != nil {
			t.Fatal(err)
		}
		c.circuit.refused(c.now())
		c.learn(Call{Method: http.MethodGet}, Answer{Status: status})
		if err := c.circuit.admit(c.now(), false); err == nil {
			t.Errorf("a %d closed the circuit", status)
		}
	}
}

func TestCircuitSaysSo(t *testing.T) {
	var c circuit
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	c.refused(at)
	err := c.admit(at.Add(time.Minute), false)
	if err == nil || !strings.Contains(err.Error(), "not calling: credential refused since 2026-01-01 10:00:00 UTC") {
		t.Errorf("admit = %v, want that it does not call and why", err)
	}
	if err := c.admit(at.Add(-time.Minute), false); err == nil {
		t.Error("admit with a clock that ran backwards = nil, want it still open")
	}
}

func TestRetryAfter(t *testing.T) {
	date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		header http.Header
		want   time.Duration
		ok     bool
	}{
		"none":                   {http.Header{"Retry-Afternoon": {"5"}}, 0, false},
		"seconds":                {http.Header{"Retry-After": {"5"}}, 5 * time.Second, true},
		"parts of a second":      {http.Header{"Retry-After": {" 0.5 "}}, 500 * time.Millisecond, true},
		"with a limiter":         {http.Header{"Retry-After-Sandbox-Lifecycle": {"7"}}, 7 * time.Second, true},
		"a date":                 {http.Header{"Retry-After": {"Thu, 01 Jan 2026 00:01:00 GMT"}}, time.Minute, true},
		"a date that has passed": {http.Header{"Retry-After": {"Wed, 31 Dec 2025 00:00:00 GMT"}}, 0, true},
		"negative":               {http.Header{"Retry-After": {"-5"}}, 0, true},
		"without end":            {http.Header{"Retry-After": {"1e300"}}, 24 * time.Hour, true},
		"no number":              {http.Header{"Retry-After": {"NaN"}}, 0, false},
		"words":                  {http.Header{"Retry-After": {"soon"}}, 0, false},
	} {
		if got, ok := retryAfter(test.header, date); got != test.want || ok != test.ok {
			t.Errorf("%s: retryAfter = %s, %t; want %s, %t", name, got, ok, test.want, test.ok)
		}
	}
}

func TestResets(t *testing.T) {
	date := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hook := Resets("X-RateLimit-Reset", "RateLimit-Reset")
	for name, test := range map[string]struct {
		status int
		header http.Header
		want   time.Duration
		ok     bool
	}{
		"seconds":                    {429, http.Header{"X-Ratelimit-Reset": {"7"}}, 7 * time.Second, true},
		"a moment":                   {429, http.Header{"X-Ratelimit-Reset": {"1767225605"}}, 5 * time.Second, true},
		"a moment in milliseconds":   {429, http.Header{"X-Ratelimit-Reset": {"1767225600500"}}, 500 * time.Millisecond, true},
		"a moment that has passed":   {429, http.Header{"X-Ratelimit-Reset": {"1767225599"}}, 0, true},
		"a moment that is far":       {429, http.Header{"X-Ratelimit-Reset": {"1967225599"}}, 24 * time.Hour, true},
		"a date":                     {429, http.Header{"X-Ratelimit-Reset": {"Thu, 01 Jan 2026 00:01:00 GMT"}}, time.Minute, true},
		"the second header":          {503, http.Header{"Ratelimit-Reset": {"3"}}, 3 * time.Second, true},
		"the first of both":          {429, http.Header{"X-Ratelimit-Reset": {"2"}, "Ratelimit-Reset": {"3"}}, 2 * time.Second, true},
		"nonsense":                   {429, http.Header{"X-Ratelimit-Reset": {"soon"}}, 0, false},
		"a number without end":       {429, http.Header{"X-Ratelimit-Reset": {"1e300"}}, 0, false},
		"none":                       {429, http.Header{}, 0, false},
		"a success only informs":     {200, http.Header{"X-Ratelimit-Reset": {"7"}}, 0, false},
		"another error only informs": {500, http.Header{"X-Ratelimit-Reset": {"7"}}, 0, false},
	} {
		if got, ok := hook(Answer{Status: test.status, Header: test.header, Date: date}); got != test.want || ok != test.ok {
			t.Errorf("%s: %s, %t; want %s, %t", name, got, ok, test.want, test.ok)
		}
	}
}

// Without a rate nobody waits for one, also when the caller's time ends in that moment.
func TestNoRateHoldsNobodyUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := turns(0)(ctx); err != nil {
		t.Errorf("a turn without a rate = %v, want none to wait for", err)
	}
	if err := turns(1)(ctx); err == nil {
		t.Error("a turn at a rate of a caller that left = nil, want an error")
	}
}
