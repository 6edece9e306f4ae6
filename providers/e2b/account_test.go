package e2b

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestTemplates(t *testing.T) {
	const mine, byAlias = `{"templateID":"tpl","public":false}`, "GET /templates/aliases/dev"
	builds := func(pairs ...string) string {
		var out []string
		for i := 0; i+1 < len(pairs); i += 2 {
			out = append(out, fmt.Sprintf(`{"buildID":%q,"status":%q}`, pairs[i], pairs[i+1]))
		}
		return `{"templateID":"tpl","lastSpawnedAt":"2026-10-01T00:00:00Z","builds":[` + strings.Join(out, ",") + `]}`
	}
	tags := reply{200, js, `[{"tag":"default","buildID":"b1"},{"tag":"v2","buildID":"b2"}]`, nil}
	none := reply{404, js, `{"code":404,"message":"no matching operation was found"}`, nil}
	for name, test := range map[string]struct {
		asked  string // "" means dev
		alias  reply
		tags   reply
		builds string
		want   reconcile.TemplateState
		raw    string
		err    error // that it is; errAny for any
	}{
		"its default build is ready": {tags: tags, builds: builds("b2", "error", "b1", "ready"), want: reconcile.TemplateActive, raw: "ready"},
		"its default build failed, another is ready": {tags: tags, builds: builds("b2", "ready", "b1", "error"),
			want: reconcile.TemplateFailed, raw: "error"},
		"another tag": {asked: "dev:v2", tags: tags, builds: builds("b2", "building", "b1", "ready"),
			want: reconcile.TemplateBuilding, raw: "building"},
		"a build that waits":             {tags: tags, builds: builds("b1", "waiting"), want: reconcile.TemplateBuilding, raw: "waiting"},
		"a word that is new":             {tags: tags, builds: builds("b1", "melted"), want: reconcile.TemplateUnknown, raw: "melted"},
		"no tags, one is ready":          {tags: none, builds: builds("b3", "error", "b1", "ready"), want: reconcile.TemplateActive, raw: "ready"},
		"no tags, none is ready":         {tags: none, builds: builds("b3", "error", "b1", "waiting"), want: reconcile.TemplateFailed, raw: "error"},
		"its build is on another page":   {asked: "dev:v2", tags: tags, builds: builds("b9", "error", "b8", "ready"), want: reconcile.TemplateActive, raw: "ready"},
		"no builds":                      {tags: tags, builds: builds(), want: reconcile.TemplateUnknown},
		"no such alias":                  {alias: reply{404, js, `{"code":404,"message":"Template alias 'dev' not found"}`, nil}, want: reconcile.TemplateMissing, raw: "missing"},
		"no such tag":                    {alias: reply{404, js, `{"code":404,"message":"tag 'x' does not exist for template 'dev'"}`, nil}, want: reconcile.TemplateMissing, raw: "missing"},
		"a 404 of somebody else":         {alias: reply{404, "text/html", "<html>", nil}, err: errAny},
		"of another team":                {alias: reply{403, js, `{"code":403,"message":"You don't have access to template alias 'dev'"}`, nil}, want: reconcile.TemplateUnknown, raw: "of another team"},
		"of another team, former words":  {alias: reply{403, js, `{"code":403,"message":"You don't have access to this template alias"}`, nil}, want: reconcile.TemplateUnknown, raw: "of another team"},
		"of another team, in few words":  {alias: reply{403, js, `{"code":403,"message":"forbidden"}`, nil}, want: reconcile.TemplateUnknown, raw: "of another team"},
		"a 403 of somebody else":         {alias: reply{403, "text/html", "<html>", nil}, err: reconcile.ErrUnauthorized},
		"the team is blocked":            {alias: reply{403, js, `{"code":403,"message":"Team is blocked"}`, nil}, err: reconcile.ErrUnauthorized},
		"the key may not":                {alias: reply{403, js, `{"code":403,"message":"You don't have access to this team"}`, nil}, err: reconcile.ErrUnauthorized},
		"an alias of nothing":            {alias: reply{200, js, `{}`, nil}, err: errAny},
		"the tags cannot be read":        {tags: reply{500, js, `{"code":500,"message":"x"}`, nil}, err: errAny},
		"another template is in there":   {tags: tags, builds: `{"templateID":"other","builds":[]}`, err: errAny},
		"an id that is an alias of none": {asked: "..", err: reconcile.ErrUnknownID},
	} {
		l := newLab(t)
		l.says[byAlias], l.says[byAlias+":v2"] = reply{200, js, mine, nil}, reply{200, js, mine, nil}
		if test.alias.status != 0 {
			l.says[byAlias] = test.alias
		}
		l.says["GET /templates/tpl/tags"], l.says["GET /templates/tpl"] = test.tags, reply{200, js, test.builds, nil}
		asked := test.asked
		if asked == "" {
			asked = "dev"
		}
		got, err := l.Template(t.Context(), asked)
		switch {
		case test.err != nil:
			if err == nil || !errors.Is(test.err, errAny) && !errors.Is(err, test.err) {
				t.Errorf("%s: Template = %+v, %v; want %v", name, got, err, test.err)
			}
		case err != nil || got.State != test.want || got.Raw != test.raw || got.Name != asked || !got.AsOf.Equal(l.clock.Now()):
			t.Errorf("%s: Template = %+v, %v; want %s (%s)", name, got, err, test.want, test.raw)
		}
	}
}

var errAny = errors.New("any error")

// The simulator's own: by alias, with the team before it, by id, and the vendor's.
func TestTemplateNames(t *testing.T) {
	l := newLab(t)
	made := l.world.PutTemplate(simulated.Template{Name: "dev"})
	for name, want := range map[string]reconcile.TemplateState{
		"dev": reconcile.TemplateActive, "lab/dev": reconcile.TemplateActive, made.ID: reconcile.TemplateActive,
		"dev:v1": reconcile.TemplateActive, "dev:v9": reconcile.TemplateMissing, "none": reconcile.TemplateMissing,
		"base": reconcile.TemplateUnknown,
	} {
		if got, err := l.Template(t.Context(), name); err != nil || got.State != want {
			t.Errorf("Template(%s) = %+v, %v; want %s", name, got, err, want)
		}
	}
}

func TestUsage(t *testing.T) {
	for name, test := range map[string]struct {
		answer reply
		want   float64 // CPU; -1 for an error
	}{
		"the last counts":    {reply{200, js, `[{"timestampUnix":1,"cpuUsedPct":1},{"timestampUnix":9,"cpuUsedPct":97.5},{"timestampUnix":5,"cpuUsedPct":2}]`, nil}, 97.5},
		"not measured yet":   {reply{200, js, `[]`, nil}, -1},
		"it broke":           {reply{500, js, `{"code":500,"message":"x"}`, nil}, -1},
		"a page":             {reply{200, "text/html", "<html>", nil}, -1},
		"an object for many": {reply{200, js, `{"sandboxes":{}}`, nil}, -1},
	} {
		l := newLab(t)
		s := l.put(simulated.Sandbox{})
		l.says["GET /sandboxes/"+s.ID+"/metrics"] = test.answer
		got, err := l.Usage(t.Context(), s)
		if (err != nil) != (test.want < 0) || err == nil && got.CPUPercent != test.want {
			t.Errorf("%s: Usage = %+v, %v; want %g", name, got, err, test.want)
		}
	}
}

// The log tells what was printed, and what became of the sandbox between.
func TestLogs(t *testing.T) {
	l := newLab(t)
	s := l.put(simulated.Sandbox{Log: "one\ntwo\n"})
	l.clock.Advance(time.Minute)
	if _, err := l.Suspend(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	want := "[2026-11-01T12:00:00Z sandbox.lifecycle.created]\none\ntwo\n[2026-11-01T12:01:00Z sandbox.lifecycle.paused]\n"
	if got, err := l.Logs(t.Context(), s, 1000); err != nil || got != want {
		t.Errorf("Logs = %q, %v; want %q", got, err, want)
	}
	if got, err := l.Logs(t.Context(), s, 8); err != nil || got != "paused]\n" {
		t.Errorf("Logs cut = %q, %v; want the end", got, err)
	}
	l.says["GET /events/sandboxes/"+s.ID] = reply{500, js, `{}`, nil}
	if got, err := l.Logs(t.Context(), s, 1000); err != nil || got != "one\ntwo\n" {
		t.Errorf("Logs without events = %q, %v; want what was printed", got, err)
	}
	l.says["GET /v2/sandboxes/"+s.ID+"/logs"] = reply{404, "text/html", "<html>", nil}
	if got, err := l.Logs(t.Context(), s, 1000); err == nil {
		t.Errorf("Logs = %q, nil; want an error", got)
	}
}

// Others are not asked for events: a 401 for a path that they do not know would say that the
// key was refused.
func TestEventsOfOthersAreNotAskedFor(t *testing.T) {
	l := newLab(t, func(e *entry.Entry) { e.Extra["domain"] = "elsewhere.test" })
	s := l.put(simulated.Sandbox{Log: "one\n"})
	if got, err := l.Logs(t.Context(), s, 1000); err != nil || got != "one\n" {
		t.Errorf("Logs = %q, %v", got, err)
	}
	for _, r := range l.seen {
		if strings.HasPrefix(r.URL.Path, "/events") {
			t.Errorf("it asked %s", r.URL)
		}
	}
}

func TestCheck(t *testing.T) {
	running := func(l *lab) string { return l.put(simulated.Sandbox{}).ID }
	for name, test := range map[string]struct {
		change func(*entry.Entry)
		world  func(*lab)
		bad    string // what is not well; "" when all is
		said   string // in one of the lines
	}{
		"all is well":     {nil, func(l *lab) { running(l) }, "", "the daemon of sandbox i"},
		"nothing is ours": {nil, func(*lab) {}, "", "not tested: no sandbox of ours runs"},
		"the key's team": {func(e *entry.Entry) { e.Extra["team"] = e2btest.Team }, func(*lab) {}, "",
			"the key is of team " + e2btest.Team},
		"a key of another team": {func(e *entry.Entry) { e.Extra["team"] = "other" }, func(*lab) {}, "team", "not authorized"},
		"a wrong key": {func(e *entry.Entry) { e.Token = "another-key" }, func(*lab) {}, "credential",
			"401 Unauthorized"},
		"a wrong url": {nil, func(l *lab) { l.says["GET /v2/sandboxes"] = reply{200, "text/html", "<html>", nil} }, "credential",
			"is the url right?"},
		"nothing says where": {func(e *entry.Entry) { e.Extra = nil }, func(*lab) {}, "way into the sandboxes",
			"set domain: or sandbox_url:"},
		"the way leads elsewhere": {nil, func(l *lab) {
			running(l)
			l.says["GET /health"] = reply{502, js, `{"message":"The sandbox was not found","code":502}`, nil}
		}, "way into the sandboxes", "The sandbox was not found"},
		"the way leads to a page": {nil, func(l *lab) {
			running(l)
			l.says["GET /health"] = reply{200, "text/html", "<html>", nil}
		}, "way into the sandboxes", "200 OK"},
		"one that may wake is left alone": {nil, func(l *lab) {
			id := running(l)
			l.vendor.Live(id, e2btest.Lifecycle{Pauses: true, AutoResume: true}, l.clock.Now().Add(10*time.Second))
		}, "", "not tested: its time is over"},
	} {
		var change []func(*entry.Entry)
		if test.change != nil {
			change = append(change, test.change)
		}
		l := newLab(t, change...)
		test.world(l)
		l.world.ResetCalls()
		said := ""
		for _, line := range l.Check(t.Context()) {
			if line.OK == (line.What == test.bad) || line.OK == (line.Fix != "") || line.Said == "" {
				t.Errorf("%s: Check = %+v", name, line)
			}
			said += line.Said + "\n"
		}
		if !strings.Contains(said, test.said) {
			t.Errorf("%s: Check said %q, want %q", name, said, test.said)
		}
	}
}
