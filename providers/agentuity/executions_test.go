package agentuity

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What waits, what was overtaken, and what is a probe's.
func TestExecutions(t *testing.T) {
	const hour = time.Hour
	seen := func(queued, running int, wait time.Duration) reconcile.ExecutionsSeen {
		return reconcile.ExecutionsSeen{Queued: queued, Running: running, QueuedFor: wait}
	}
	since := func(field string) reply {
		return data(`{"executions":[{"executionId":"exe_1","status":"queued","` + field + `":"2026-11-01T11:00:00Z"}]}`)
	}
	told := data(`{"events":[{"eventId":"e","type":"x","event":{"executionId":"exe_q0"},"createdAt":"2026-11-01T11:30:00Z"},` +
		`{"eventId":"e","type":"x","event":{"executionId":"exe_q0"},"createdAt":"2026-11-01T11:00:00Z"},` +
		`{"eventId":"e","type":"x","event":{"executionId":"other"},"createdAt":"2026-11-01T10:00:00Z"},` +
		`{"eventId":"e","type":"x","event":{},"createdAt":"2026-11-01T09:00:00Z"}]}`)
	nothing := data(`{"events":[]}`)
	for name, test := range map[string]struct {
		executions, events reply
		want               reconcile.ExecutionsSeen
	}{
		"none":                               {nobody, nothing, seen(0, 0, 0)},
		"one waits, nobody says how long":    {queued(""), nothing, seen(1, 0, 0)},
		"an event says how long":             {queued(""), told, seen(1, 0, hour)},
		"the events are lost":                {queued(""), fault, seen(1, 0, 0)},
		"it says itself: startedAt":          {since("startedAt"), nothing, seen(1, 0, hour)},
		"two wait behind one that runs":      {queued("", "", "running"), nothing, seen(2, 1, 0)},
		"one was overtaken":                  {queued("completed", ""), nothing, seen(0, 0, 0)},
		"one was overtaken by one that runs": {queued("running", ""), nothing, seen(0, 1, 0)},
		"one was not":                        {queued("", "completed"), nothing, seen(1, 0, 0)},
		"a failed one overtakes":             {queued("failed", ""), nothing, seen(0, 0, 0)},
		"one timed out overtakes":            {queued("timeout", ""), nothing, seen(0, 0, 0)},
		"probes' do not count":               {queued("60", "120"), nothing, seen(0, 0, 0)},
		"probes' and others":                 {queued("60", "", "120"), nothing, seen(1, 0, 0)},
		"a cancelled one that began":         {queued("cancelled", ""), nothing, seen(0, 0, 0)},
		"a cancelled one that did not":       {data(`{"executions":[{"executionId":"a","status":"cancelled"},{"executionId":"b","status":"queued"}]}`), nothing, seen(1, 0, 0)},
		"the other order": {data(`{"executions":[` +
			`{"executionId":"a","status":"completed","startedAt":"2026-11-01T11:00:00Z"},{"executionId":"b","status":"queued"},` +
			`{"executionId":"c","status":"completed","startedAt":"2026-11-01T11:30:00Z"},{"executionId":"d","status":"queued"}]}`),
			nothing, seen(1, 0, 0)},
		"a word that nobody knows is no queue": {data(`{"executions":[{"executionId":"a","status":"melting"}]}`), nothing, seen(0, 0, 0)},
	} {
		d := answering(map[string][]reply{executions: {test.executions}, events: {test.events}})
		if got, err := over(t, d).Executions(t.Context(), sb1); err != nil || got != test.want {
			t.Errorf("%s: Executions = %+v, %v; want %+v", name, got, err, test.want)
		}
	}
	for name, answer := range map[string]reply{"a fault": fault, "no list": data(`{}`), "not found": {404, none, nil},
		"no success": {200, `{"success":false,"message":"x"}`, nil}} {
		if got, err := over(t, answering(with(executions, answer))).Executions(t.Context(), sb1); err == nil {
			t.Errorf("%s: Executions = %+v, nil; want an error: nothing is known", name, got)
		}
	}
}

// Where nothing says since when one waits, it is since we first saw it; another that came
// later waits for less, and one that was served is forgotten.
func TestExecutionsSeenBefore(t *testing.T) {
	at := func(hour string, body reply) reply {
		body.header = []string{"Date", "Sun, 01 Nov 2026 " + hour + " GMT"}
		return body
	}
	list := func(ids ...string) reply {
		var all []string
		for _, id := range ids {
			all = append(all, `{"executionId":"`+id+`","status":"queued"}`)
		}
		return data(`{"executions":[` + strings.Join(all, ",") + `]}`)
	}
	d := answering(map[string][]reply{events: {data(`{"events":[]}`)}, executions: {
		at("12:00:00", list("a")), at("12:03:00", list("b", "a")), at("12:04:00", list("b")), at("12:05:00", list()),
		at("12:06:00", list("a")),
	}})
	p := over(t, d)
	for i, want := range []time.Duration{0, 3 * time.Minute, time.Minute, 0, 0} {
		if got, err := p.Executions(t.Context(), sb1); err != nil || got.QueuedFor != want {
			t.Errorf("look %d: Executions = %+v, %v; want the oldest for %s", i+1, got, err, want)
		}
	}
	if _, kept := p.waiting.Load("sbx_1"); !kept {
		t.Error("what waits is not remembered")
	}
}

// What is remembered of a sandbox goes with it: when a whole listing shows it no more.
func TestExecutionsAreForgottenWithTheirSandbox(t *testing.T) {
	const list = "GET usc /sandbox"
	for name, test := range map[string]struct {
		listing reply
		kept    bool
	}{
		"it is listed":                 {rowsOf(0, 3, 3), true},
		"it is gone":                   {rowsOf(2, 3, 1), false},
		"nothing is left":              {rowsOf(0, 0, 0), false},
		"the listing is not complete":  {fault, true},
		"the listing lacks what it is": {rowsOf(2, 3, 2), true},
	} {
		p := over(t, answering(map[string][]reply{executions: {queued("")}, events: {data(`{"events":[]}`)}, list: {test.listing}}))
		if _, err := p.Executions(t.Context(), sb1); err != nil {
			t.Fatal(err)
		}
		_, _, _ = listed(t.Context(), p)
		if _, kept := p.waiting.Load("sbx_1"); kept != test.kept {
			t.Errorf("%s: what waited in it is remembered %t, want %t", name, kept, test.kept)
		}
	}
}

func TestLogs(t *testing.T) {
	lived := data(`{"events":[{"type":"lifecycle:reconcile","event":{"previous_status":"suspended"},"createdAt":"2026-11-01T11:30:00Z"},` +
		`{"type":"create","event":{},"createdAt":"2026-11-01T11:00:00Z"}]}`)
	const life = "2026-11-01T11:00:00Z create {}\n2026-11-01T11:30:00Z lifecycle:reconcile {\"previous_status\":\"suspended\"}\n"
	stream := func(address string) reply {
		return reply{200, strings.Replace(one, `"executions"`, `"stdoutStreamUrl":"`+address+`","executions"`, 1), nil}
	}
	const printed = "GET streams-usc /stream_1"
	text := []string{"Content-Type", "text/plain"}
	for name, test := range map[string]struct {
		now, printed reply
		want         string
		read         bool
	}{
		"nothing was printed":       {reply{200, one, nil}, reply{}, life, false},
		"what was printed":          {stream("https://streams-usc.agentuity.cloud/stream_1"), reply{200, "hello s3cret-key\n", text}, life + "hello [token]\n", true},
		"it is gone":                {stream("https://streams-usc.agentuity.cloud/stream_1"), reply{404, "", text}, "could not be read: 404", true},
		"not over https":            {stream("http://streams-usc.agentuity.cloud/stream_1"), reply{200, "x", text}, "is none", false},
		"a file of this machine":    {stream("file:///etc/passwd"), reply{}, "is none", false},
		"an address of nobody":      {stream("https:///x"), reply{}, "is none", false},
		"this host's own addresses": {stream("/stream_1"), reply{}, "is none", false},
		"a host of our own network": {stream("https://10.0.0.7/stream_1"), reply{}, "not asking 10.0.0.7: provider lab sends", false},
		"a cloud's own metadata":    {stream("https://169.254.169.254/latest"), reply{}, "not asking 169.254.169.254", false},
		"somebody else's host":      {stream("https://agentuity.cloud.evil.test/x"), reply{}, "not asking agentuity.cloud.evil.test", false},
	} {
		d := answering(map[string][]reply{events: {lived}, look: {test.now}, printed: {test.printed}})
		got, err := over(t, d).Logs(t.Context(), sb1, 10_000)
		if err != nil || !strings.HasPrefix(got, life) || !strings.Contains(got, test.want) || d.times(printed) == 1 != test.read {
			t.Errorf("%s: Logs = %q, %v after %v; want %q", name, got, err, d.asked, test.want)
		}
	}
	if _, err := over(t, answering(map[string][]reply{events: {fault}})).Logs(t.Context(), sb1, 10); !is(err, errAny) {
		t.Errorf("Logs with a fault = %v, want an error", err)
	}
}

// A check says what is wrong and what mends it.
func TestCheck(t *testing.T) {
	const list, stats, regions = "GET /sandbox", "GET usc /services/stats/org_1", "GET api /cli/region"
	count := data(`{"services":{"sandbox":{"totalActive":3,"running":1,"idle":2,"creating":0}}}`)
	idles := func(after string) reply {
		row := `{"sandboxId":"sbx_1","status":"idle","timeout":{"idle":"` + after + `"}}`
		return data(`{"total":3,"sandboxes":[` + row + "," + strings.Replace(row, "sbx_1", "sbx_2", 1) + "," + strings.Replace(row, "sbx_1", "sbx_3", 1) + `]}`)
	}
	every := func(d time.Duration) func(*entry.Entry) {
		return func(e *entry.Entry) { e.Probe.Every = d }
	}
	for name, test := range map[string]struct {
		replies map[string][]reply
		change  []func(*entry.Entry)
		bad     []string // lines that are not in order, and what they say or advise
	}{
		"all is well": {map[string][]reply{list: {rowsOf(0, 3, 3)}, stats: {count}}, nil, nil},
		"the key is refused": {map[string][]reply{list: {fails(401, "", "Unauthorized")}}, nil,
			[]string{"credential: create an SDK key"}},
		"a wrong address": {map[string][]reply{list: {{200, "<html>", []string{"Content-Type", "text/html"}}}}, nil,
			[]string{"credential: leave url: and catalyst: out"}},
		"a limit": {map[string][]reply{list: {{429, `{}`, []string{"Retry-After", "3600"}}}}, nil, []string{"credential: wait"}},
		"an SDK key cannot name the regions": {map[string][]reply{regions: {fails(403, "", "no")}},
			[]func(*entry.Entry){extra("region", "")}, []string{"credential: with an SDK key name the regions"}},
		"a region fails": {map[string][]reply{list: {rowsOf(0, 3, 3)}, "GET usw /sandbox": {fault}, stats: {count}},
			[]func(*entry.Entry){extra("region", "usc,usw")}, []string{"listing usw: it fails there"}},
		"probes keep one alive": {map[string][]reply{list: {idles("30m")}, stats: {count}}, []func(*entry.Entry){every(30 * time.Minute)},
			[]string{"probes: let probe.every be longer"}},
		"probes are rarer":                 {map[string][]reply{list: {idles("30m")}, stats: {count}}, []func(*entry.Entry){every(31 * time.Minute)}, nil},
		"it is never ended for being idle": {map[string][]reply{list: {idles("0s")}, stats: {count}}, []func(*entry.Entry){every(time.Minute)}, nil},
		"the totals are higher": {map[string][]reply{list: {rowsOf(0, 2, 2)}, stats: {count}}, nil,
			[]string{"totals: leave region: out"}},
		"the totals are higher, and what has ended is listed": {map[string][]reply{list: {{200, `{"success":true,"data":{"sandboxes":[` +
			row("sbx_1", "idle") + "," + row("sbx_2", "idle") + "," + row("sbx_3", "terminated") + `],"total":3}}`, nil}}, stats: {count}}, nil,
			[]string{"totals: leave region: out"}},
		"the totals are of more than the project": {map[string][]reply{list: {rowsOf(0, 2, 2)}, stats: {count}},
			[]func(*entry.Entry){extra("project", "proj_1")}, nil},
		"the totals are of another": {map[string][]reply{list: {rowsOf(0, 2, 2)}, stats: {fails(403, "", "no")}}, nil,
			[]string{"totals: create an SDK key"}},
		"no organization is named": {map[string][]reply{list: {rowsOf(0, 2, 2)}}, []func(*entry.Entry){extra("org", "")}, nil},
	} {
		var bad []string
		lines := over(t, answering(test.replies), test.change...).Check(t.Context())
		for _, line := range lines {
			if line.Said == "" || !line.OK && line.Fix == "" {
				t.Errorf("%s: line %+v", name, line)
			}
			if line.Fix != "" { // also of a warning
				bad = append(bad, line.What+": "+line.Fix)
			}
		}
		if len(bad) != len(test.bad) || len(lines) == 0 {
			t.Errorf("%s: %q are not in order, want %q", name, bad, test.bad)
			continue
		}
		for i := range bad {
			if !strings.HasPrefix(bad[i], test.bad[i]) {
				t.Errorf("%s: %q, want %q", name, bad[i], test.bad[i])
			}
		}
	}
}

// Only the totals name the organization in a header, and only the stream is asked without
// the credential.
func TestCredential(t *testing.T) {
	d := answering(map[string][]reply{"GET /sandbox": {rowsOf(0, 3, 3)}, "GET usc /services/stats/org_1": {data(`{"services":{}}`)},
		events: {data(`{"events":[]}`)}, "GET streams-usc /stream_1": {{200, "", []string{"Content-Type", "text/plain"}}},
		look: {{200, strings.Replace(one, `"executions"`, `"stdoutStreamUrl":"https://streams-usc.agentuity.cloud/stream_1","executions"`, 1), nil}}})
	heads := map[string]string{}
	p := over(t, watch(d, heads))
	p.Check(t.Context())
	if _, err := p.Logs(t.Context(), sb1, 10); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/sandbox": "Bearer s3cret-key|", "/services/stats/org_1": "Bearer s3cret-key|org_1", "/stream_1": "|",
		"/sandbox/sbx_1": "Bearer s3cret-key|",
	} {
		if heads[path] != want {
			t.Errorf("%s was sent with %q, want %q", path, heads[path], want)
		}
	}
}
