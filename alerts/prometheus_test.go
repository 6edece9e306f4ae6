package alerts

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts/alertstest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestPrometheus: a real one scrapes two replicas and a file with these rules, and sees the alerts that the ledger asks
// for. The first five failures of a kind are seen as five, because their counter began at 0. No panel of the dashboard
// stays empty where all that there is is exported.
func TestPrometheus(t *testing.T) {
	t.Parallel() // it mostly waits
	d, file := &desk{says: reconcile.Measures{Now: noon}}, everything()
	file.Written, file.Config = noon, func() (bool, time.Time) { return false, noon }
	targets := []string{serveWith(t, d, everything()), serveWith(t, d, everything()), serveWith(t, d, file)}
	p := alertstest.Setup{Targets: targets, Rules: Rules(Site{})}.Prometheus(t)
	p.Wait(t, `count(sandkeeper_findings_opened_total{rule="assigned-stale",provider="daytona"} == 0)`, "3")
	p.Wait(t, `count(sandkeeper:findings_opened:total{rule="assigned-stale",provider="daytona"} == 0)`, "1") // recorded as 0, too

	m := full()
	m.Counters = append(m.Counters,
		reconcile.Counter{Name: "findings_opened", Rule: "assigned-stale", Provider: "daytona", Value: 5})
	d.set(m)
	for _, name := range []string{"SandkeeperSystemicFailure", "SandkeeperIncidentOpen", "SandkeeperRuleAutoDisabled"} {
		p.Wait(t, `count(ALERTS{alertname="`+name+`",alertstate="firing",installation="prod"})`, "1")
	}
	p.Wait(t, `round(sum(increase(sandkeeper:findings_opened:total{rule="assigned-stale"}[30m])))`, "5")
	d.set(doubled(m))
	p.Wait(t, `max(sandkeeper_leaks_total{rule="orphan"})`, "12")
	for _, query := range dashboardQueries(t) {
		understands(t, p, query)
		p.Some(t, soon.ReplaceAllString(query, "[5m:1s]"))
	}
	for _, query := range runbookQueries(t) {
		understands(t, p, query)
	}
}

// soon are the steps of a query that looks back for long: this world is some seconds old.
var soon = regexp.MustCompile(`\[\d+[hd]:\d+m\]`)

// doubled are the measures with every counter twice as high.
func doubled(m reconcile.Measures) reconcile.Measures {
	m.Counters = slices.Clone(m.Counters)
	for i := range m.Counters {
		m.Counters[i].Value *= 2
	}
	return m
}

// dashboardQueries are those of the dashboard, with what Grafana would put into them.
func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	var board struct {
		Title, UID    string
		SchemaVersion int
		Panels        []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal([]byte(Dashboard()), &board); err != nil {
		t.Fatal(err)
	}
	if board.UID == "" || board.SchemaVersion < 36 || len(board.Panels) < 30 {
		t.Fatalf("dashboard %q of schema %d has %d panels", board.UID, board.SchemaVersion, len(board.Panels))
	}
	ids, rows := map[int]bool{}, 0
	for _, panel := range board.Panels {
		if ids[panel.ID] || panel.GridPos.W < 1 || panel.GridPos.X+panel.GridPos.W > 24 {
			t.Errorf("panel %d %s: its id is taken or its place is none", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		if panel.Type == "row" {
			rows++
		} else if len(panel.Targets) == 0 {
			t.Errorf("panel %s shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, strings.NewReplacer("$installation", "prod", "$__rate_interval", "1m").Replace(target.Expr))
		}
	}
	if rows != 6 {
		t.Errorf("%d rows, want health, tasks, sandboxes, stop requests, providers, money", rows)
	}
	return queries
}

// runbookQueries are those that the runbooks tell somebody to look at.
func runbookQueries(t *testing.T) (queries []string) {
	t.Helper()
	for _, name := range Runbooks() {
		text, _ := Runbook(name)
		queries = append(queries, alertstest.Queries(text)...)
	}
	if len(queries) < 60 {
		t.Fatalf("%d queries in the runbooks", len(queries))
	}
	return queries
}

// understands wants the query to be one, of series that are exported.
func understands(t *testing.T, p *alertstest.Prometheus, query string) {
	t.Helper()
	if got := p.Ask(t.Context(), query); strings.Contains(got, "error") {
		t.Errorf("%s\n%s", query, got)
	}
	for _, name := range ours.FindAllString(query, -1) {
		name = strings.TrimPrefix(name, "sandkeeper_")
		if !slices.Contains(everyName(t), name) {
			t.Errorf("%s\nsandkeeper_%s is not exported", query, name)
		}
	}
}

// serveWith is one replica; it returns where it listens.
func serveWith(t *testing.T, l Ledger, o Options) string {
	t.Helper()
	server := httptest.NewServer(Handler(l, o))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}
