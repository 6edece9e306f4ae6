package agentuity

import (
	"errors"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestDeath: only the newest turn of this very sandbox's life counts, and only of what a get shows as over.
func TestDeath(t *testing.T) {
	const get, events = "GET usc /sandbox/sbx_1", "GET usc /sandbox/sandboxes/sbx_1/events"
	const over11 = `{"success":true,"data":{"sandboxId":"sbx_1","status":"terminated","exitCode":137}}`
	at := func(kind, minute, of, more string) string {
		return `{"type":"` + kind + `","sandboxId":"` + of + `","createdAt":"2026-11-01T11:` + minute + `:00Z","event":{` + more + `}}`
	}
	list := func(all string) reply { return data(`{"events":[` + all + `]}`) }
	ended, made := at("destroy", "50", "sbx_1", `"reason":"oom"`), at("create", "10", "sbx_1", "")
	for name, test := range map[string]struct {
		get, events reply
		want        string // "": no record; "?": not known
	}{
		"the end, newest first":              {reply{200, over11, nil}, list(ended + "," + made), "destroyed: oom, exit code 137"},
		"the end, oldest first":              {reply{200, over11, nil}, list(made + "," + ended), "destroyed: oom, exit code 137"},
		"no reason":                          {reply{200, being("failed"), nil}, list(at("destroy", "50", "sbx_1", "")), "destroyed"},
		"it began again":                     {reply{200, over11, nil}, list(at("lifecycle:started", "51", "sbx_1", "") + "," + ended), ""},
		"it was resumed since":               {reply{200, over11, nil}, list(at("lifecycle:resumed", "51", "sbx_1", "") + "," + ended), ""},
		"an execution since says nothing":    {reply{200, over11, nil}, list(at("execution:queued", "51", "sbx_1", "") + "," + ended), "destroyed: oom, exit code 137"},
		"of another sandbox":                 {reply{200, over11, nil}, list(at("destroy", "50", "sbx_2", "")), ""},
		"it is not told of":                  {reply{200, over11, nil}, list(made), ""},
		"nothing is kept of it":              {reply{200, over11, nil}, list(""), ""},
		"its events are gone with it":        {reply{200, over11, nil}, reply{404, `{"success":false,"code":"SANDBOX_NOT_FOUND","message":"sandbox not found"}`, nil}, ""},
		"it runs, whatever its events say":   {reply{200, being("running"), nil}, list(ended), ""},
		"it is suspended":                    {reply{200, being("suspended"), nil}, list(ended), ""},
		"in a state that nobody knows":       {reply{200, being("evacuating"), nil}, list(ended), ""},
		"an answer without a list":           {reply{200, over11, nil}, data(`{}`), "?"},
		"a refusal in an answer that is 200": {reply{200, over11, nil}, reply{200, `{"success":false,"message":"no"}`, nil}, "?"},
	} {
		d, err := over(t, answering(map[string][]reply{get: {test.get}, events: {test.events}})).Death(t.Context(), "sbx_1")
		gone := errors.Is(err, reconcile.ErrNotFound)
		switch {
		case test.want == "" && !gone, test.want == "?" && (err == nil || gone):
			t.Errorf("%s: Death = %+v, %v", name, d, err)
		case test.want == "" || test.want == "?":
		case err != nil || d.Reason != test.want || !d.At.Equal(noon.Add(-10*time.Minute)) || d.Ago() != 10*time.Minute:
			t.Errorf("%s: Death = %+v, %v; want %q ten minutes ago", name, d, err, test.want)
		}
	}
}
