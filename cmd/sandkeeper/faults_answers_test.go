package main

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// waits are the forms in which a provider, or what stands before it, asks to wait.
var waits = []http.Header{
	{},
	{"Retry-After": {"1"}},
	{"Retry-After": {"0"}},
	{"Retry-After": {"0.5"}},
	{"Retry-After": {"-30"}},
	{"Retry-After": {"soon"}},
	{"Retry-After": {"NaN"}},
	{"Retry-After": {""}},
	{"Retry-After": {"1", "2"}},
	{"Retry-After-Authenticated": {"1"}},
	{"Retry-After-Sandbox-Create": {"2"}, "Retry-After": {"1"}},
	{"Retry-After": {"date"}}, // a second from then
	{"Retry-After": {"Sun, 06 Nov 1994 08:49:37 GMT"}},
	{"Retry-After": {"Sunday, 06-Nov-94 08:49:37 GMT"}},
	{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1"}},
}

// throttle answers 429, with another form of Retry-After each time.
func throttle() http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range waits[int(n.Add(1))%len(waits)] {
			if values[0] == "date" {
				values = []string{time.Now().Add(time.Second).UTC().Format(http.TimeFormat)}
			}
			w.Header()[name] = values
		}
		says(w, http.StatusTooManyRequests, `{"statusCode": 429, "message": "ThrottlerException: Too Many Requests"}`)
	}
}

func says(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// always answers every call alike.
func always(status int, text string) func(*siege) func() {
	return answeredWith(func(w http.ResponseWriter, _ *http.Request) { says(w, status, text) })
}

// waitLong asks to wait for a time that nobody waits, as a gateway does that is set up badly.
func waitLong(forHowLong string) func(*siege) func() {
	return answeredWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", forHowLong)
		says(w, http.StatusTooManyRequests, `{"statusCode": 429, "message": "Too Many Requests"}`)
	})
}

func answerFaults() map[string]fault {
	return map[string]fault{
		"429 with each form of Retry-After": {strike: answeredWith(throttle()), page: noPage, log: "429"},
		"429, wait 40 s":                    {strike: waitLong("40"), passes: 60, page: noPage, log: "429|asked to wait"},
		"503 for everything":                {strike: always(503, `{"statusCode": 503, "message": "overloaded"}`), page: noPage, log: "503"},
		"500 in HTML": {strike: answeredWith(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "<html><h1>Internal Server Error</h1></html>")
		}), page: noPage, log: "500"},
		"404 for everything":         {stage: lies, strike: always(404, `{"statusCode": 404, "message": "Sandbox not found"}`), page: noPage, log: noList},
		"410 for everything":         {stage: lies, strike: always(410, `{"statusCode": 410, "message": "Gone"}`), page: noPage, log: noList},
		"the dashboard, 200":         {strike: dashboard, page: noPage, log: "url"},
		"an empty list":              {strike: injected(simulated.Fault{On: simulated.List, Effect: simulated.EmptyList}), page: "Frozen The listing of daytona", log: "source not trusted"},
		"a page that is cut":         {strike: injected(simulated.Fault{On: simulated.List, Effect: simulated.CutPage}), page: noPage, log: noList},
		"a cursor that leads back":   {strike: injected(simulated.Fault{On: simulated.List, Effect: simulated.SameCursor}), page: noPage, log: "list sandboxes of daytona: page 2 leads back"},
		"the toolbox away":           {strike: injected(simulated.Fault{On: simulated.Toolbox, Effect: simulated.Answer, Status: 502}), lasts: 15 * time.Second},
		"deletes that are not done":  {stage: stuckSoon, after: excused, strike: injected(simulated.Fault{On: simulated.Delete, Effect: simulated.NotDone})},
		"deletes done, answered 500": {strike: injected(simulated.Fault{On: simulated.Delete, Effect: simulated.DoneThenAnswer, Status: 500})},
	}
}

// stuckSoon has what was accepted and is not done asked for again after seconds.
func stuckSoon(s *siege) {
	s.settings.rules = strings.Replace(s.settings.rules, "systemic: off", "systemic: off, terminating-stuck: {after: 3s}", 1)
}

// lies is a provider that says of each thing, in its own words, that it is gone.
func lies(s *siege) { s.lies = true }

// excused are the requests again that follow, long after the fault, on its lies.
func excused(s *siege) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spans[len(s.spans)-1].to = time.Now().Add(time.Hour)
}

func dashboard(s *siege) func() {
	return answeredWith(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Dashboard</title>")
	})(s)
}
