package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// TestLists: what the page shows is said in a shell, as tables and as data, with exit codes for scripts.
func TestLists(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	if code, _, errs := a.run("findings"); code != 1 || !strings.Contains(errs, "sandkeeper migrate") {
		t.Errorf("findings before the first migrate: exit code %d\n%s", code, errs)
	}
	a.must("migrate")
	if code, out, errs := a.run("status"); code != verb.NotTrusted || errs != "" || !strings.HasPrefix(out, "Never ran: ") {
		t.Errorf("status before the first pass: exit code %d\n%s%s", code, out, errs)
	}
	ws := a.working(2)
	stale := a.task(row{status: "assigned", key: "omoios-worker-900", created: time.Hour, updated: time.Hour})
	a.once(0)
	a.must("hold", "task:"+stale, "--reason", "looked at by ana", "--author", "ana", "--for", "1h")
	a.must("pause", "rule:orphan", "--reason", "wrong label", "--author", "bo")
	a.later(time.Minute, ws...)
	a.once(0)

	var s statusReport
	code, out, errs := a.run("status", "-o", "json")
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != verb.NotTrusted || s.Agreement || s.Findings != 1 || s.Level != "set" {
		t.Errorf("status -o json: exit code %d, %v\n%s%s", code, err, out, errs)
	}
	for name, c := range map[string]struct {
		args string
		want []string // parts of the answer
		not  string
	}{
		"a finding in a table":      {"findings", []string{"RULE", "assigned-stale", "task:" + stale, "held", "observe"}, "OPENED"},
		"a finding with all of it":  {"findings -o wide", []string{"OPENED", "hold: task:" + stale, "by ana"}, "…"},
		"of a rule that found none": {"findings --rule orphan", []string{"no such finding"}, stale},
		"held by a kind":            {"findings --held-by hold", []string{stale}, "no such"},
		"held by another":           {"findings --held-by budget", []string{"no such finding"}, stale},
		"by a part of the id":       {"findings --text " + stale[:13], []string{stale}, "no such"},
		"what holds":                {"holds", []string{"sandkeeper unhold task:" + stale, "pause", "sandkeeper resume rule:orphan"}, "nothing is held"},
		"the pauses":                {"pauses", []string{"rule:orphan", "bo", "wrong label"}, "nothing is paused"},
		"the sandboxes":             {"sandboxes --state running", []string{ws[0].sandbox, ws[1].task}, "more than"},
		"at most so many":           {"sandboxes --limit 1", []string{"more than 1; --limit 0 shows all"}, ""},
		"gone ones":                 {"sandboxes --state gone", []string{"no such sandbox"}, ""},
		"no incident":               {"incidents", []string{"no such incident"}, ""},
		"no action in observe":      {"actions", []string{"no such action"}, ""},
		"the timeline":              {"log --kind operator", []string{"operator", "ana", "wrong label"}, "finding"},
		"explain folds":             {"explain " + stale, []string{"nothing to find: ", "by its database's clock"}, "orphan healthy"},
		"the plan by rule":          {"plan", []string{"\nassigned-stale: 1 held\n"}, "and 0 more"},
		"the plan of another rule":  {"plan --rule orphan", []string{"0 findings, 0 steps to do, 0 held, 2 healthy"}, stale},
	} {
		out := a.must(strings.Fields(c.args)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) || c.not != "" && strings.Contains(out, c.not) {
				t.Errorf("%s: `%s` must say %q and not %q:\n%s", name, c.args, want, c.not, out)
			}
		}
	}
	a.listsAsData(stale)
	a.refusesLists()
	a.completes(stale)
	a.follows()
}

// A watcher hands each write on until it is told that there was enough.
type watcher struct {
	text bytes.Buffer
	each func(all string)
}

func (w *watcher) Write(p []byte) (int, error) {
	w.text.Write(p)
	w.each(w.text.String())
	return len(p), nil
}

// follows: log -f shows what was there and then what comes, once, and ends well when it is interrupted.
func (a *arena) follows() {
	a.Helper()
	ctx, interrupt := context.WithCancel(a.Context())
	defer interrupt()
	paused := false
	w := &watcher{each: func(all string) {
		switch {
		case strings.Contains(all, "while it is followed"):
			interrupt()
		case !paused:
			paused = true
			a.must("pause", "provider:daytona", "--reason", "while it is followed", "--author", "cy")
		}
	}}
	var errs bytes.Buffer
	code := execute(ctx, []string{"log", "-f", "-o", "json", "--kind", "operator", "--limit", "1", "-c", a.config},
		console.Stdio{Out: w, Err: &errs})
	lines := strings.Split(strings.TrimSpace(w.text.String()), "\n")
	if code != 0 || errs.Len() > 0 || len(lines) != 2 || !strings.Contains(lines[1], "provider:daytona") {
		a.Errorf("log -f: exit code %d, %d lines\n%s%s", code, len(lines), w.text.String(), errs.String())
	}
}

// listsAsData: JSON and YAML say the same, with the fields of the contract.
func (a *arena) listsAsData(stale string) {
	a.Helper()
	var found struct {
		Findings []foundReport `json:"findings"`
	}
	if err := json.Unmarshal([]byte(a.must("findings", "-o", "json")), &found); err != nil || len(found.Findings) != 1 {
		a.Fatalf("findings -o json: %v, %v", found, err)
	}
	f := found.Findings[0]
	if f.Subject != (result.Subject{Type: "task", ID: stale}) || f.State != "held" || len(f.HeldBy) != 2 || f.HeldBy[1].Since.IsZero() {
		a.Errorf("the finding is %+v", f)
	}
	for _, verb := range []string{"status", "findings", "holds", "pauses", "incidents", "actions", "sandboxes", "log"} {
		var fromJSON, fromYAML map[string]any
		_, out, _ := a.run(verb, "-o", "json")
		if err := json.Unmarshal([]byte(out), &fromJSON); err != nil {
			a.Errorf("%s -o json: %v", verb, err)
		}
		_, out, _ = a.run(verb, "-o", "yaml")
		if err := yaml.Unmarshal([]byte(out), &fromYAML); err != nil || len(fromYAML) != len(fromJSON) {
			a.Errorf("%s -o yaml: %v\n%s", verb, err, out)
		}
	}
}

// refusesLists: wrong words are named, with the right one.
func (a *arena) refusesLists() {
	a.Helper()
	for line, want := range map[string]string{
		"findings --rule orphann":      `--rule orphann: did you mean "orphan"?`,
		"findings --state helt":        `--state helt: did you mean "held"?`,
		"sandboxes --provider daytone": "daytone",
		"actions --limit -1":           "--limit -1 is below 0",
		"log --kind x":                 "known are seen, state",
	} {
		code, out, errs := a.run(strings.Fields(line)...)
		if code != verb.WrongUsage || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "see `sandkeeper help ") {
			a.Errorf("%s: exit code %d\n%s%s", line, code, out, errs)
		}
	}
}

// completes: a shell is given ids. It does not wait for long, and is asked again on a busy machine.
func (a *arena) completes(stale string) {
	a.Helper()
	for line, want := range map[string]string{
		"explain " + stale[:5]: stale, "unhold task": "task:" + stale, "resume ": "rule:orphan",
		"hold task:" + stale[:5]: "task:" + stale, "findings --rule orp": "orphan",
	} {
		args := append([]string{"__complete", "-c", a.config}, strings.Split(line, " ")...)
		a.reaches(line+" completes "+want, func() bool {
			var shown, errs bytes.Buffer
			execute(a.Context(), args, console.Stdio{Out: &shown, Err: &errs})
			return strings.Contains(shown.String(), want+"\n")
		})
	}
	o := &app.Options{ConfigFile: a.config}
	if got := completed(a.Context(), o, "zzz", []completer{knownIDs, releasable, knownIncidents}); len(got) > 0 {
		a.Errorf("zzz completes %v", got)
	}
}
