package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// hostileTexts are what somebody may write who names a sandbox, prints a log or fills a row.
// PostgreSQL keeps no NUL and no broken encoding, so rows have those without.
var hostileTexts = []string{
	dirty,
	"a\xff\xfe\x9b31mb\xc3",
	"\x00",
	"=cmd|' /C calc'!A1",
	"$(reboot); `reboot`; -rf / --no-preserve-root",
	"'; DROP TABLE tasks; --\x1b[1A",
	"javascript:alert(document.cookie)//https://evil.example/\r\nLocation: x",
	"%s%n%!d(MISSING){{.}}${HOME}",
}

// longTexts are as long as a provider's page may be in all.
var longTexts = []string{
	strings.Repeat("<img src=x onerror=alert(1)>\x1b[31m ", 6_000),
	strings.Repeat("\u202e", 60_000),
}

// A stranger fills an arena with hostile texts wherever he can.
type stranger struct {
	*arena
	ids []string // of what he broke, to be explained
}

// comes puts sandboxes and tasks into the world, each with the text in every place.
func (s *stranger) comes(text string) {
	s.Helper()
	row1 := fits(text)
	labels := func(task string) map[string]string {
		return map[string]string{"project": "omoios", "task_id": task, "agent_id": text, text: text}
	}
	orphan := s.cloud.Put(simulated.Sandbox{Name: text, Template: text, Region: text, Labels: labels(nobody), CreatedAt: time.Now().Add(-time.Hour)})
	odd := s.cloud.Put(simulated.Sandbox{Name: "odd", Raw: text, Labels: labels(text), CreatedAt: time.Now().Add(-time.Hour)})
	stale := s.task(row{status: "assigned", key: begins(row1), created: time.Hour, updated: 4 * time.Minute, err: row1})
	failed := s.cloud.Put(simulated.Sandbox{Name: text, State: reconcile.SandboxFailed, Error: text, Log: text, Template: "ai-agent-dev-light",
		Labels: labels(stale), CreatedAt: time.Now().Add(-time.Hour), UpdatedAt: time.Now().Add(-10 * time.Minute)})
	s.ids = append(s.ids, orphan.ID, odd.ID, stale, failed.ID)
}

// fits is the text as a row may have it.
func fits(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?")
}

// TestHostileTextsAreHarmless lets strangers write what they like, and reads all that comes
// out: on a terminal, as JSON, in the log, on the page, in metrics, at the webhook and in the
// platform's own rows.
func TestHostileTextsAreHarmless(t *testing.T) {
	for name, texts := range map[string][]string{"odd": hostileTexts, "long": longTexts} {
		t.Run(name, func(t *testing.T) {
			r := webhooktest.NewReceiver(t)
			s := &stranger{arena: hooked(t, r, quickly)}
			ws := s.working(3)
			s.beat(ws)
			for _, text := range texts {
				s.comes(text)
				s.cloud.PutTemplate(simulated.Template{Name: text, State: reconcile.TemplateInactive, Error: text})
			}
			s.works(texts[0])
			s.served()
			s.toldWell(r)
			s.wroteWell()
			s.keeps(ws)
		})
	}
}

// TestLongRows: an error of 10 MB in a row is read in part.
func TestLongRows(t *testing.T) {
	s := &stranger{arena: hooked(t, webhooktest.NewReceiver(t), quickly)}
	ws := s.working(3)
	s.beat(ws)
	s.comes("x")
	s.sql("UPDATE tasks SET error_message = repeat($1, 300000) WHERE status = 'assigned'", "<b onload='x'>\x1b[31m\u202e ünd\r\nforged ")
	s.works("x")
	s.served()
	s.wroteWell()
	s.keeps(ws)
}

// begins are the first letters of a text, as many as a key may have.
func begins(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), 60)])
}

// works runs every verb, as text and as JSON.
func (s *stranger) works(text string) {
	s.Helper()
	s.must("migrate")
	request := "x" + begins(fits(text))
	id := strings.Join(strings.Fields(request), " ") // of lines only the operator himself could make one
	verbs := [][]string{
		{"plan"}, {"plan", "-o", "json"}, {"check"}, {"once", "--wait", "5s"}, {"once", "-o", "json", "--wait", "5s"},
		{"hold", "label:agent_id=" + id, "--reason", request, "--author", request}, {"hold", "task:" + id, "--reason", request},
		{"pause", "rule:errored", "--reason", request}, {"plan"}, {"plan", "-o", "json"}, {"resume", "rule:errored"}, {"report"}, {"report", "-o", "json"},
		{"status"}, {"findings", "-o", "wide"}, {"findings", "-o", "json"}, {"holds", "-o", "wide"}, {"holds", "-o", "yaml"},
		{"sandboxes", "-o", "wide"}, {"sandboxes", "-o", "yaml"}, {"log"}, {"log", "-o", "json"}, {"actions", "-o", "yaml"},
		{"affected"}, {"affected", "-o", "json"}, {"affected", id}, {"explain", id}, {"terminate", id, "--reason", request}, {"mode", "orphan", id},
		{"restore", id}, {"unhold", "task:" + id},
	}
	for i, id := range s.ids {
		verbs = append(verbs, []string{"explain", id}, []string{"explain", id, "-o", "json"})
		if i < 4 {
			verbs = append(verbs, []string{"terminate", id, "--reason", request})
		}
	}
	for _, args := range verbs {
		s.says(args)
	}
}

// says runs one verb and reads what it prints.
func (s *stranger) says(args []string) {
	s.Helper()
	_, out, errs := s.run(args...)
	what := fmt.Sprintf("%.60q", args)
	clean(s.T, "stdout of "+what, out)
	clean(s.T, "stderr of "+what, errs)
	if strings.Contains(strings.Join(args, " "), "-o json") && !json.Valid([]byte(out)) && out != "" {
		s.Errorf("%s is no JSON: %.300s", what, out)
	}
	for line := range strings.Lines(errs + out) {
		if strings.HasPrefix(line, "forged") || strings.HasPrefix(line, "Location") {
			s.Errorf("%s has a line that somebody else wrote: %.200q", what, line)
		}
	}
	if len(errs)+len(out) > 1<<20 {
		s.Errorf("%s says %d bytes", what, len(errs)+len(out))
	}
}

// served reads the page, the metrics and the log of a daemon.
func (s *stranger) served() {
	s.Helper()
	d := s.daemon("run")
	passes := s.passes("full")
	s.reaches("a full pass", func() bool { return s.passes("full") > passes })
	for _, path := range []string{"/", "/?part=live", "/metrics", "/readyz", "/findings", "/findings?state=resolved", "/actions",
		"/actions?state=closed", "/incidents", "/tasks", "/sandboxes", "/sources", "/rules", "/stops", "/operators", "/passes", "/search?q=%3Cscript%3E"} {
		ask := d.read
		if path == "/readyz" {
			ask = d.get
		}
		status, body := ask(path)
		if path != "/readyz" && status != http.StatusOK {
			s.Errorf("%s answers %d: %.300s", path, status, body)
		}
		clean(s.T, path, body)
		for _, bad := range []string{"<script>", "<img", "onerror=alert(1)>", `href="javascript`, "onload='x'"} {
			if strings.Contains(body, bad) && path != "/metrics" {
				s.Errorf("%s has %s", path, bad)
			}
		}
		if len(body) > 2<<20 {
			s.Errorf("%s has %d bytes", path, len(body))
		}
	}
	d.stop()
	clean(s.T, "the log", d.errs.String())
	for line := range strings.Lines(d.errs.String()) {
		if !json.Valid([]byte(line)) {
			s.Errorf("a line of the log is no JSON: %.200q", line)
		}
		if len(line) > 100_000 {
			s.Errorf("a line of the log has %d bytes: %.200s", len(line), line)
		}
	}
}

// toldWell reads what the platform was told.
func (s *stranger) toldWell(r *webhooktest.Receiver) {
	s.Helper()
	told := r.Told()
	if len(told) == 0 {
		s.Error("the webhook was told nothing")
	}
	for _, h := range told {
		var n map[string]any
		if err := json.Unmarshal([]byte(h.Body), &n); err != nil {
			s.Errorf("a notice is no JSON: %v: %.300s", err, h.Body)
		}
		clean(s.T, "the reason of a notice", fmt.Sprint(n["reason"]))
	}
}

// wroteWell reads what was written into the platform's rows.
func (s *stranger) wroteWell() {
	s.Helper()
	wrote := 0
	for _, id := range s.ids {
		if _, isTask := s.rows()[id]; !isTask {
			continue
		}
		status, why := s.state(id)
		if status == "failed" {
			wrote++
			clean(s.T, "the error of task "+id, why)
			if len(why) > 10_000 {
				s.Errorf("the error of task %s has %d bytes", id, len(why))
			}
		}
	}
	if wrote == 0 {
		s.Error("no row was written, so nothing could be wrong in it")
	}
}

// TestProviderLies: whatever an endpoint answers in place of the provider, nothing of it is
// raw anywhere, nothing is failed or ended for it, and memory and time stay bounded.
func TestProviderLies(t *testing.T) {
	large := `{"statusCode":500,"message":"` + strings.Repeat(`<script>\u001b[31m`, 400_000) + `"}`
	lies := map[string]simulated.Fault{
		"a hostile error":      {Effect: simulated.Answer, Status: 400, Body: `{"statusCode":400,"message":"\u001b]0;x\u0007\u202e<script>alert(1)</script>\r\nforged"}`},
		"a large error":        {Effect: simulated.Answer, Status: 500, Body: large},
		"a large page":         {Effect: simulated.Answer, Status: 200, Body: large},
		"a page of somebody":   {Effect: simulated.Answer, Status: 200, ContentType: "text/html", Body: "<h1>sign in</h1>\x1b[2J"},
		"a kind with controls": {Effect: simulated.Answer, Status: 200, ContentType: "text/x\u202e\u009b31m", Body: "x"},
		"a redirect":           {Effect: simulated.Answer, Status: 302, Header: map[string]string{"Location": "https://evil.example/\u202e"}},
		"nothing to show":      {Effect: simulated.Answer, Status: 200, Body: `{"items":[],"nextCursor":null}`},
		"null":                 {Effect: simulated.Answer, Status: 200, Body: `null`},
		"a deep answer":        {Effect: simulated.Answer, Status: 200, Body: strings.Repeat("[", 200_000)},
		"an odd status":        {Effect: simulated.Answer, Status: 299, Body: `{}`},
	}
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			ws := a.working(4)
			a.once(0)
			a.later(10*time.Second, ws...)
			a.cloud.Inject(lie)
			for _, args := range [][]string{{"plan"}, {"check"}, {"once", "--wait", "1s"}, {"once", "-o", "json", "--wait", "1s"}, {"explain", ws[0].task}} {
				_, out, errs := a.run(args...)
				clean(t, fmt.Sprint(args), out)
				clean(t, fmt.Sprint(args), errs)
				if len(out)+len(errs) > 200_000 {
					t.Errorf("%v says %d bytes", args, len(out)+len(errs))
				}
			}
			a.keeps(ws)
		})
	}
}
