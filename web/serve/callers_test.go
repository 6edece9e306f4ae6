package serve

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRefusals asks of callers with a session or a token.
func TestRefusals(t *testing.T) {
	row := done("/act")
	row.by = []credential{bySession, byActToken}
	here := map[string]string{"Origin": "https://page.example", "Sec-Fetch-Site": "same-origin"}
	elsewhere := map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
	half := map[string]string{"Origin": "https://page.example"}
	other := map[string]string{"Sec-Fetch-Site": "same-origin"}
	const saidTwice = "a session from two sites at once"
	for name, c := range map[string]struct {
		caller  caller
		headers map[string]string
		want    string
	}{
		"an operator's session":          {caller{name: "ana", by: bySession, role: roleOperator}, here, ""},
		"a program":                      {caller{name: "bot", by: byActToken, role: roleOperator}, nil, ""},
		"a token in a page of somebody":  {caller{name: "bot", by: byActToken, role: roleOperator}, elsewhere, "asked for by this page itself"},
		"a token with an origin alone":   {caller{name: "bot", by: byActToken, role: roleOperator}, half, "asked for by this page itself"},
		"a token with a site alone":      {caller{name: "bot", by: byActToken, role: roleOperator}, other, "asked for by this page itself"},
		saidTwice:                        {caller{name: "ana", by: bySession, role: roleOperator}, here, "asked for by this page itself"},
		"a session without an origin":    {caller{name: "ana", by: bySession, role: roleOperator}, nil, "asked for by this page itself"},
		"a session from elsewhere":       {caller{name: "ana", by: bySession, role: roleOperator}, elsewhere, "asked for by this page itself"},
		"a token that may read":          {caller{name: "bot", by: byReadToken, role: roleOperator}, nil, "does not count here"},
		"a password where none counts":   {caller{name: "ana", by: byBasic, role: roleOperator}, here, "does not count here"},
		"a reader's session":             {caller{name: "ben", by: bySession, role: roleReader}, here, "operators only"},
		"a session without a name":       {caller{name: "", by: bySession, role: roleOperator}, here, "nobody acts without a name"},
		"nobody, though an operator may": {caller{}, here, "nobody acts without a name"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "https://page.example/act", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.TLS = &tls.ConnectionState{}
		for key, value := range c.headers {
			r.Header.Set(key, value)
		}
		if name == saidTwice {
			r.Header.Add("Sec-Fetch-Site", "cross-site")
		}
		if got := row.refusal(calledBy(r, c.caller)); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestRefusedActsAreTold of, with who tried and why not.
func TestRefusedActsAreTold(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	h, err := newRouter(newSite(o), []route{done("/act")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://localhost/act", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, calledBy(r, caller{name: "ben", by: byBasic, role: roleReader}))
	for _, want := range []string{"level=WARN", `route="POST /act"`, "user=ben", "over plain HTTP"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("a refused act (%d) is not told with %s: %s", w.Code, want, &log)
		}
	}
}
