package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestHoldOfWhatIsNotThere: a hold may come before what it is for, but one that matches
// nothing says so, and one that can never match is refused.
func TestHoldOfWhatIsNotThere(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(2)
	box := a.box(nobody, time.Minute)
	a.must("migrate")
	for arg, want := range map[string]string{
		"nosuchid":                            "task:nosuchid or sandbox:nosuchid matches no task and no sandbox that sandkeeper knows now",
		"task:nosuchid":                       "sandkeeper unhold task:nosuchid",
		"sandbox:nosuchid":                    "sandbox:nosuchid matches no task and no sandbox",
		"sandbox:daytona/nosuch":              "matches no task and no sandbox",
		"label:project=omoioz":                "label:project=omoioz matches no task and no sandbox",
		"label:nolabel=":                      "matches no task and no sandbox",
		"daytona":                             "daytona is a provider, which is held by: sandkeeper hold provider:daytona",
		"tusk:x":                              "is nothing that can be held",
		"task:" + strings.ToUpper(ws[0].task): "matches no task and no sandbox", // a text
		// What is there.
		ws[0].task:                  "",
		"task:" + ws[1].task:        "",
		box.ID:                      "",
		"sandbox:" + box.Name:       "",
		"sandbox:daytona/" + box.ID: "",
		"label:project=omoios":      "",
		"provider:daytona":          "",
	} {
		code, out, errs := a.run("hold", arg, "--reason", "x")
		refused := strings.Contains(want, "nothing that can be held")
		switch {
		case refused && (code != verb.WrongUsage || out != ""), !refused && (code != 0 || !strings.HasPrefix(out, "holding ")):
			t.Errorf("hold %s: exit code %d:\n%s%s", arg, code, out, errs)
		case want == "" && errs != "", want != "" && !strings.Contains(errs, want), strings.Count(errs, "\n") > 1:
			t.Errorf("hold %s says %q, want one line with %q", arg, errs, want)
		}
		if n := a.count("SELECT count(*) FROM sandkeeper.holds WHERE target = $1 OR target = $2", arg, "task:"+arg); (n == 0) != refused {
			t.Errorf("hold %s: %d holds are recorded", arg, n)
		}
	}
}

// TestUnholdOfWhatIsNotHeld says in words that no hold is there, by every spelling.
func TestUnholdOfWhatIsNotHeld(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	for arg, want := range map[string]string{
		"task:nosuchid": "nothing holds task:nosuchid\n", "nosuchid": "nothing holds task:nosuchid or sandbox:nosuchid\n",
	} {
		if code, out, errs := a.run("unhold", arg, "--reason", "x"); code != 1 || out != "" || !strings.HasSuffix(errs, want) {
			t.Errorf("unhold %s: exit code %d:\n%s%swant %s", arg, code, out, errs, want)
		}
	}
}

// TestHoldOfAnotherSpelling: a uuid in capitals is the same to the database and not to a hold,
// which says so.
func TestHoldOfAnotherSpelling(t *testing.T) {
	a := newArena(t, settings{tasks: ", table: public.jobs_by_uuid"})
	a.sql(jobsByUUID)
	a.must("migrate")
	var id string
	if err := a.db.QueryRow(t.Context(), "SELECT id::text FROM jobs_by_uuid LIMIT 1").Scan(&id); err != nil {
		t.Fatal(err)
	}
	code, out, errs := a.run("hold", "task:"+strings.ToUpper(id), "--reason", "x")
	if want := "the row's id is spelled " + id + "; use: sandkeeper hold task:" + id; code != 0 ||
		!strings.HasPrefix(out, "holding ") || !strings.Contains(errs, want) || strings.Count(errs, "\n") > 1 {
		t.Errorf("exit code %d, want 0 and one line with %q:\n%s%s", code, want, out, errs)
	}
	if _, _, errs := a.run("hold", "task:"+id, "--reason", "x"); errs != "" {
		t.Errorf("the row's own spelling: %s", errs)
	}
}

// TestHoldOfGone: a sandbox that the ledger saw go is not there any more.
func TestHoldOfGone(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	a.working(3)
	box := a.box(nobody, time.Minute)
	a.once(0)
	if _, _, errs := a.run("hold", "sandbox:"+box.ID); errs != "" {
		t.Errorf("one that the ledger has: %s", errs)
	}
	a.cloud.Change(box.ID, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	a.once(0)
	if _, _, errs := a.run("hold", "sandbox:"+box.ID); !strings.Contains(errs, "matches no task and no sandbox") {
		t.Errorf("one that is gone: %s", errs)
	}
}

// TestHoldOfProvider: no entry, no hold; the one that was meant is named.
func TestHoldOfProvider(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	for arg, want := range map[string]string{
		"provider:daytna": `no provider "daytna" in the config; did you mean "daytona"?`,
		"provider:e2b":    `no provider "e2b" in the config; known are daytona`,
		"provider:":       "is nothing that can be held",
		"label:team":      "label:KEY=VALUE",
		"label:=x":        "is nothing that can be held",
		"":                "is nothing that can be held",
		"sandbox:":        "is nothing that can be held",
		"rule:orphan":     "is nothing that can be held",
	} {
		if code, out, errs := a.run("hold", arg); code != verb.WrongUsage || !strings.Contains(errs, want) || out != "" {
			t.Errorf("hold %q: exit code %d, want %d and %q:\n%s%s", arg, code, verb.WrongUsage, want, out, errs)
		}
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.holds"); n != 0 {
		t.Errorf("%d holds are recorded, want none", n)
	}
	if code, _, errs := a.run("pause", "provider:daytna"); code != verb.WrongUsage || !strings.Contains(errs, `did you mean "daytona"?`) {
		t.Errorf("pause of such a provider: exit code %d: %s", code, errs)
	}
}

// TestHoldBlind: what cannot be asked is not called absent, and the hold is recorded anyway.
func TestHoldBlind(t *testing.T) {
	a := newArena(t, settings{token: "other"})
	ws := a.working(1)
	a.must("migrate")
	if _, _, errs := a.run("hold", ws[0].task); errs != "" {
		t.Errorf("the row is enough: %s", errs)
	}
	code, out, errs := a.run("hold", "sandbox:nosuchid")
	if code != 0 || !strings.HasPrefix(out, "holding ") || !strings.Contains(errs, "is not known: ") || !strings.Contains(errs, "401") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if strings.Contains(errs, "matches no") {
		t.Errorf("what could not be listed is called absent: %s", errs)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.holds"); n != 3 {
		t.Errorf("%d holds are recorded, want 3", n)
	}
}
