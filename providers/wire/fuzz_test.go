package wire

import (
	"net/http"
	"testing"
	"time"
)

// FuzzWaits: whatever a header says, the wait is between nothing and a day.
func FuzzWaits(f *testing.F) {
	date := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, value := range []string{
		"1", "0", "-1", "1.5", "1e9", "1e308", "inf", "-Inf", "NaN", "0x1p4", "1_000", "", " 7 ", "1772366400", "1772366400000", "99999999999999999",
		"Sun, 01 Mar 2026 12:00:07 GMT", "Sun, 01 Mar 1926 12:00:07 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", "1;w=60",
	} {
		f.Add(value, 429)
	}
	f.Fuzz(func(t *testing.T, value string, status int) {
		header := http.Header{"Retry-After": {value}, "Retry-After-Sandbox": {value, "1"}, "X-Ratelimit-Reset": {value}}
		waits := map[string]time.Duration{}
		var ok bool
		if waits["retry after"], ok = retryAfter(header, date); !ok {
			t.Fatal("Retry-After-Sandbox: 1 was not found")
		}
		if waits["retry after"] < time.Second {
			t.Fatalf("%q hides the longer wait: %s", value, waits["retry after"])
		}
		waits["reset"], ok = Resets("X-RateLimit-Reset")(Answer{Status: status, Header: header, Date: date})
		if ok && status != 409 && status != 429 && status != 503 {
			t.Fatalf("a %d asks to wait", status)
		}
		for what, wait := range waits {
			if wait < 0 || wait > 24*time.Hour {
				t.Fatalf("%s of %q is %s", what, value, wait)
			}
		}
	})
}
