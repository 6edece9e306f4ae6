package main

import (
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/generic/generictest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A yardArena has its sandboxes at a service of the house that nobody wrote an adapter for:
// the worked example describes it, to the letter.
type yardArena struct{ *arena }

func newYardArena(t *testing.T) *yardArena {
	t.Helper()
	a := &yardArena{newArena(t, settings{})}
	server := httptest.NewServer(generictest.New(a.cloud, generictest.Options{Key: "yard-key"}))
	t.Cleanup(server.Close)
	example, err := os.ReadFile("../../deploy/examples/generic-boxyard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("${DATABASE_URL}", a.dsn, "${TASKS_DATABASE_URL}", a.dsn, "${YARD_KEY}", "yard-key", "${YARD_URL:-https://boxyard.example.com/v1}",
		server.URL+"/v1", "mode: observe", "mode: enforce\nproof: off", "project: mine", "project: omoios", "project:mine", "project:omoios",
		"rate: 10/s", "rate: 1000/s", "after: 60s, failures: 3, remedy: quarantine", "after: 30s, failures: 2",
		"timeout: 5s, budget: 50/m", "timeout: 20s, budget: 1000/m",
		"limits: {per_pass: 10, share: 10%, breaker: 30%, per_hour: 100}", "limits: {share: 100%, breaker: 100%}",
		"link: {task_label: task_id, sandbox: id}", "link: {task_label: task_id}").Replace(string(example))
	a.write(text)
	return a
}

func (a *yardArena) write(text string) {
	a.Helper()
	if err := os.WriteFile(a.config, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
}

// alter changes one text of the config, and gives it back.
func (a *yardArena) alter(old, now string) (undo func()) {
	a.Helper()
	text, err := os.ReadFile(a.config)
	if err != nil {
		a.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		a.Fatalf("the config holds no %q", old)
	}
	a.write(strings.ReplaceAll(string(text), old, now))
	return func() { a.write(string(text)) }
}

// TestGeneric: a platform that is only described is kept as any other: what is broken is
// repaired, what is healthy, somebody else's or unknown is left alone.
func TestGeneric(t *testing.T) {
	a := newYardArena(t)
	ws := a.working(5)
	a.cloud.Change(ws[0].sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead })
	orphan := a.box(nobody, 10*time.Minute).ID
	row := a.task(row{status: "cancelled", created: time.Hour, updated: time.Minute})
	ignored := a.box(row, time.Hour).ID
	leave := map[string]string{
		"foreign": a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour),
			Labels: map[string]string{"project": "research", "task_id": nobody}}).ID,
		"odd": a.cloud.Put(simulated.Sandbox{Raw: "hibernating", CreatedAt: time.Now().Add(-time.Hour),
			Labels: map[string]string{"project": "omoios", "task_id": strings.Replace(nobody, "0000", "2222", 1)}}).ID,
		"young": a.box(strings.Replace(nobody, "0000", "3333", 1), time.Minute/2).ID,
	}
	a.once(0)
	if !a.ended(ignored) || a.ended(orphan) || a.ended(ws[0].sandbox) {
		t.Errorf("after one pass the sandbox of a cancelled task is ended %t, the orphan %t, the broken one %t; want the first alone",
			a.ended(ignored), a.ended(orphan), a.ended(ws[0].sandbox))
	}
	for range 3 {
		a.later(61*time.Second, ws...)
		a.once(0)
	}
	if !a.ended(orphan) || !a.ended(ws[0].sandbox) {
		t.Errorf("later the orphan is ended %t, the broken one %t; want both", a.ended(orphan), a.ended(ws[0].sandbox))
	}
	if status, why := a.state(ws[0].task); status != "failed" || !strings.Contains(why, "502") {
		t.Errorf("the task of the broken sandbox is %s: %s; want it failed, with 502", status, why)
	}
	for name, id := range leave {
		if a.ended(id) {
			t.Errorf("the %s sandbox was ended", name)
		}
	}
	a.keeps(ws[1:])
	ended := []string{ignored, orphan, ws[0].sandbox}
	for _, c := range a.cloud.Destructive() {
		if c.Kind != simulated.Delete || !slices.Contains(ended, c.ID) {
			t.Errorf("it was asked for %+v", c)
		}
	}
	for _, kind := range a.asked(leave["odd"]) {
		if kind == simulated.Exec || kind == simulated.Files {
			t.Errorf("the odd sandbox was called: %s", kind)
		}
	}
}

// TestGenericListingFails: whatever fails of a listing, nothing is concluded from what it
// does not show.
func TestGenericListingFails(t *testing.T) {
	for name, fault := range map[string]simulated.Fault{
		"it broke":          {Effect: simulated.Answer, Status: 500},
		"an empty object":   {Effect: simulated.Answer, Status: 200, Body: "{}"},
		"zones are missing": {Effect: simulated.Answer, Status: 200, Body: `{"boxes":[],"after":null,"unread_zones":["eu"]}`},
		"nothing, as a lie": {Effect: simulated.EmptyList},
	} {
		t.Run(name, func(t *testing.T) {
			a := newYardArena(t)
			ws := a.working(3)
			a.once(0)
			a.later(3*time.Minute, ws...)
			before := a.rows()
			fault.On = simulated.List
			a.cloud.Inject(fault)
			if r := a.doubting(); !distrusts(r, "listing:boxyard") {
				t.Errorf("sources = %+v, want the listing distrusted", r.Sources)
			}
			a.untouched(before)
			a.keeps(ws)
		})
	}
}

// TestGenericCheck: the description is tested against the platform.
func TestGenericCheck(t *testing.T) {
	a := newYardArena(t)
	a.must("migrate")
	a.working(2)
	out := a.must("check")
	for _, want := range []string{"api: list, get, find, delete, stop, exec, files, logs", "2 sandboxes, 2 owned",
		"all words are known", "a listed sandbox is found by its id", "an unknown id is absent",
		"is told from a sandbox that is gone"} {
		if !strings.Contains(out, want) {
			t.Errorf("check = %s, want %q", out, want)
		}
	}
	for _, wrong := range []struct {
		old, now, want string
		code           int
	}{
		{"token: yard-key", "token: other-key", "set token: to a credential that the platform takes", 1},
		{"path: \"/boxes/{id}\", item", "path: \"/crates/{id}\", item", "correct api.get", 1},
		{`and body?.fault?.kind == "no_such_box"`, "", "let api.absent look at words", 1},
		{"placed: running", "palced: running", `unknown words: ["placed"]; fix: map them`, 0},
		{"items: body.boxes", "items: body.boxen", "the answer holds no list there", 1},
		{"next: body.after", "next: body.aftr ==", "api.list.next: is no expression: column", 1},
	} {
		undo := a.alter(wrong.old, wrong.now)
		code, out, errs := a.run("check")
		if code != wrong.code || !strings.Contains(out+errs, wrong.want) || strings.Contains(out+errs, "yard-key") {
			t.Errorf("check with %q: exit code %d, want %d\n%s%s\nwant %q", wrong.now, code, wrong.code, out, errs, wrong.want)
		}
		undo()
	}
}
