package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// TestIncidentFromFirstFailureToRunningAgain: many failures with one cause are one incident;
// its tasks are listed, its SQL runs them again, and what it holds is let go by a person.
func TestIncidentFromFirstFailureToRunningAgain(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	var stale []string
	for range 8 {
		id := a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute})
		a.box(id, 4*time.Minute) // its worker never speaks
		stale = append(stale, id)
	}
	a.must("migrate")
	text := a.must("once", "--wait", patience)
	incidents := a.incidents()
	if len(incidents) != 1 || incidents[0].Count != 8 || incidents[0].State != "holds" {
		t.Fatalf("incidents = %+v, want one of 8 failures that holds", incidents)
	}
	id := incidents[0].ID
	if n := strings.Count(text, "assigned-stale"); n > 3 || !strings.Contains(text, "incident "+id) {
		t.Errorf("8 failures are told in %d places:\n%s", n, text)
	}
	ids := strings.Fields(a.must("affected", id))
	slices.Sort(ids)
	slices.Sort(stale)
	if !slices.Equal(ids, stale) {
		t.Errorf("affected = %v, want %v", ids, stale)
	}
	if e := a.explained(stale[0]); len(e.Incidents) != 1 || e.Incidents[0].ID != id {
		t.Errorf("explain does not name the incident: %+v", e.Incidents)
	}
	if code, _, errs := a.run("affected", "i-nobody"); code != 1 || !strings.Contains(errs, "not on record") {
		t.Errorf("affected of no incident: exit code %d, %s", code, errs)
	}
	a.must("acknowledge", id, "--author", "ana", "--reason", "looking at the snapshot")
	if got := a.incidents()[0]; got.AckedBy != "ana" || got.Acked == nil || got.State != "holds" {
		t.Errorf("acknowledged: %+v, want that ana looks after it, and that it holds", got)
	}
	a.refuses("not on record", "acknowledge", "i-nobody")
	a.releases(id)
	a.runsAgain(id, stale)
	a.keeps(ws)
}

// incidents are those on record, as JSON has them.
func (a *arena) incidents() []result.Incident {
	a.Helper()
	var all []result.Incident
	if err := json.Unmarshal([]byte(a.must("affected", "-o", "json")), &all); err != nil {
		a.Fatal(err)
	}
	return all
}

// releases lets the incident go: shown first, then with a reason, and not twice.
func (a *arena) releases(id string) {
	a.Helper()
	if shown := a.must("release", "incident:"+id); !strings.Contains(shown, "holds") || a.incidents()[0].State != "holds" {
		a.Errorf("release without a reason is to show and to change nothing:\n%s", shown)
	}
	a.must("release", "incident:"+id, "--reason", "the template is active again")
	if got := a.incidents()[0]; got.State != "released" && got.State != "closed" {
		a.Errorf("after the release the incident is %s", got.State)
	}
	if code, _, errs := a.run("release", "incident:"+id, "--reason", "again"); code != 1 || !strings.Contains(errs, "holds nothing") {
		a.Errorf("a second release: exit code %d, %s", code, errs)
	}
}

// runsAgain runs the SQL of affected: the tasks wait again, but for one that moved meanwhile.
func (a *arena) runsAgain(id string, tasks []string) {
	a.Helper()
	a.sql("UPDATE tasks SET status = 'completed' WHERE id = $1", tasks[0])
	sql := a.must("affected", id, "-o", "sql")
	a.sql(sql)
	for i, task := range tasks {
		want := "pending"
		if i == 0 {
			want = "completed"
		}
		if status, why := a.state(task); status != want {
			a.Errorf("task %s is %s (%s) after the SQL, want %s", task, status, why, want)
		}
	}
}

// TestReportAndArmingAgain: the report counts what observe found, and clearing a lowered mode
// says what the rule follows now.
func TestReportAndArmingAgain(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	ws := a.working(3)
	a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute})
	a.once(0)
	a.later(30*time.Second, ws...)
	a.once(0)
	var r result.Rules
	if err := json.Unmarshal([]byte(a.must("report", "-o", "json", "--since", "1d")), &r); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Rules, func(l result.Rule) bool { return l.Rule == "assigned-stale" })
	if i < 0 || r.Rules[i].Verdicts != 1 || r.Rules[i].Acted != 0 || !strings.Contains(r.Rules[i].Advice, "too little to say") {
		t.Errorf("report = %+v, want one verdict of assigned-stale that nobody acted on", r.Rules)
	}
	a.must("mode", "assigned-stale", "off", "--reason", "trying it")
	if text := a.must("report"); !strings.Contains(text, "off (lowered)") {
		t.Errorf("the report does not show the lowered mode:\n%s", text)
	}
	if said := a.must("mode", "assigned-stale", "clear"); !strings.Contains(said, "follows the config again: observe") {
		t.Errorf("clear says %q", said)
	}
	if code, _, errs := a.run("report", "--since", "never"); code != verb.WrongUsage || !strings.Contains(errs, "--since never") {
		t.Errorf("a wrong time: exit code %d, %s", code, errs)
	}
}
