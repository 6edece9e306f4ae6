package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAttention(t *testing.T) {
	incidents, finding := 1, `{"rule":"orphan","subject":{"type":"sandbox","id":"sb-%s","provider":"daytona"},`+
		`"state":"due","reason":"which has no row","opened_at":"2026-02-01T09:00:00Z","id":1,"due":true,"seen":1}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"status":401,"title":"Unauthorized","detail":"show a token"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch cursor := r.URL.Query().Get("cursor"); {
		case r.URL.Path == "/api/v1/status":
			fmt.Fprintf(w, `{"ready":true,"incidents":%d,"untrusted":[],"findings":{},"actions":0,"holds":0}`, incidents)
		case incidents == 0:
			fmt.Fprint(w, `{"items":[]}`)
		case cursor == "":
			fmt.Fprintf(w, `{"items":[`+finding+`],"next":"more"}`, "1")
		default:
			fmt.Fprintf(w, `{"items":[`+finding+`]}`, "2")
		}
	}))
	defer server.Close()
	var out bytes.Buffer
	calm, err := run(t.Context(), server.URL, "secret", &out)
	if err != nil || calm || strings.Count(out.String(), "orphan\tsb-") != 2 {
		t.Errorf("attention = %t, %v, prints:\n%s", calm, err, out.String())
	}
	incidents = 0
	if calm, err = run(t.Context(), server.URL, "secret", &out); err != nil || !calm {
		t.Errorf("with nothing wrong: %t, %v", calm, err)
	}
	if _, err = run(t.Context(), server.URL, "", &out); err == nil || !strings.Contains(err.Error(), "show a token") {
		t.Errorf("without a token: %v", err)
	}
}
