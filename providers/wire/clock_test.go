package wire_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The clock of a provider is measured at each of its answers: one that is off, or that tells no time, is enough.
func TestClockOfEachAnswer(t *testing.T) {
	at := func(off time.Duration) func() string {
		return func() string { return time.Now().Add(off).UTC().Format(http.TimeFormat) }
	}
	word := func(s string) func() string { return func() string { return s } }
	for name, test := range map[string]struct {
		dates []func() string
		want  reconcile.ClockSeen
	}{
		"all right":        {[]func() string{at(0), at(0)}, reconcile.ClockSeen{}},
		"20s ahead":        {[]func() string{at(20 * time.Second)}, reconcile.ClockSeen{Off: 20 * time.Second}},
		"the second ahead": {[]func() string{at(0), at(time.Hour), at(0)}, reconcile.ClockSeen{Off: time.Hour}},
		"the last behind": {[]func() string{at(0), at(time.Minute), at(-time.Hour)},
			reconcile.ClockSeen{Off: -time.Hour + time.Second}}, // it may have been any moment of its second
		"none":                 {[]func() string{word(""), at(0)}, reconcile.ClockSeen{Unsaid: true}},
		"no time":              {[]func() string{at(0), word("yesterday")}, reconcile.ClockSeen{Unsaid: true}},
		"the year 1":           {[]func() string{word("Mon, 01 Jan 0001 00:00:00 GMT")}, reconcile.ClockSeen{Unsaid: true}},
		"thousands of years":   {[]func() string{word("Fri, 31 Dec 9999 23:59:59 GMT")}, reconcile.ClockSeen{Off: 876_000 * time.Hour}},
		"none, then far ahead": {[]func() string{word(""), at(time.Hour)}, reconcile.ClockSeen{Off: time.Hour, Unsaid: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
					w.Header()["Date"] = nil // else the server tells the time by itself
					if said := test.dates[call-1](); said != "" {
						w.Header().Set("Date", said)
					}
					sendJSON(w, 200, one)
				}}
				client, clocks := over(t, d), &reconcile.Clocks{}
				for range test.dates {
					if err := client.read(clocks.Watch(t.Context(), "lab")); err != nil {
						t.Fatal(err)
					}
				}
				test.want.Measured = true
				if got := clocks.Of("lab"); got != test.want || clocks.Of("another").Measured {
					t.Errorf("noted %+v, want %+v", got, test.want)
				}
			})
		})
	}
}

// How often a provider was asked is counted with that, and how often it said that this was too often.
func TestAnswersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
			if call == 2 {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			sendJSON(w, 200, one)
		}}
		client, clocks := over(t, d), &reconcile.Clocks{}
		for range 2 { // the second one is asked again
			if err := client.read(clocks.Watch(t.Context(), "lab")); err != nil {
				t.Fatal(err)
			}
		}
		if got := clocks.Calls("lab"); got != (reconcile.Calls{Answered: 3, Throttled: 1}) || clocks.Calls("another").Answered > 0 {
			t.Errorf("counted %+v", got)
		}
	})
}
