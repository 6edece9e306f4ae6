package tasks

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

const indexByType = "CREATE INDEX by_type ON sandbox_events (sandbox_id, event_type, created_at)"

// narrow is a mapping in which types mean something under conditions, some of them one type under several.
var narrow = mapping.EventMapping{
	Started: []mapping.EventType{{Type: "agent.started"}, {Type: "other", Where: "data->>'validation_passed' = 'true'"}},
	Waiting: []mapping.EventType{{Type: "agent.waiting", Where: "data->>'validation_passed' = 'false'"}, {Type: "none"}},
	Finished: []mapping.EventType{{Type: "continuous.completed", Where: "data->>'validation_passed' = 'true'"},
		{Type: "other", Where: "data->>'validation_passed' = 'false'"}},
}

// TestFromTypeToTypeReadsTheSame: on random tables, to the microsecond.
func TestFromTypeToTypeReadsTheSame(t *testing.T) {
	for name, m := range map[string]mapping.Mapping{
		"the preset": {Preset: "omoios"}, "conditions": {Preset: "omoios", Events: narrow},
		"by the task": {Preset: "omoios", Columns: map[string]string{"sandbox": ""},
			Events: mapping.EventMapping{Columns: map[string]string{"sandbox": "", "task": "sandbox_id"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &randomPlatform{late: 50_000, world: omoiosWorld(t), Rand: rand.New(rand.NewPCG(11, 42))}
			p.tasks = p.open(m)
			p.sameEvents("before", p.live()) // from here on it knows of no such index
			for range 600 {
				p.adds()
			}
			p.exec("UPDATE sandbox_events SET sandbox_id = '" + id("1") + "' WHERE sandbox_id = 'box-1'")
			p.exec(indexByType)
			p.exec("ANALYZE")
			atOnce, byType := p.tasks, p.open(m)
			for round := range 12 {
				for range 20 {
					p.adds()
					p.moves()
				}
				p.exec("INSERT INTO program.tasks (id, status, sandbox_id) VALUES ($1, 'running', 'box-2') ON CONFLICT DO NOTHING", id("1"))
				p.tasks = byType
				got := p.live()
				p.tasks = atOnce
				p.sameEvents(fmt.Sprintf("round %d", round), got)
			}
			if live := byType.known.live; !strings.Contains(live, "RECURSIVE") {
				t.Errorf("it does not go from type to type:\n%s", live)
			}
			if strings.Contains(atOnce.known.live, "RECURSIVE") {
				t.Error("what it is compared with goes from type to type, too")
			}
		})
	}
}

// TestFromTypeToTypeWhereItPays: only by an index that has them so, where keys have many, and where a type is one or the
// other.
func TestFromTypeToTypeWhereItPays(t *testing.T) {
	const many = "INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at) " +
		"SELECT n, 'box-' || n % 20, 'agent.tool_use', now() FROM generate_series(1, 2000) AS n"
	for name, c := range map[string]struct {
		sql  string
		m    mapping.EventMapping
		want bool
	}{
		"many":             {many + "; " + indexByType, mapping.EventMapping{}, true},
		"few":              {strings.Replace(many, "% 20", "% 200", 1) + "; " + indexByType, mapping.EventMapping{}, false},
		"no index":         {many, mapping.EventMapping{}, false},
		"another order":    {many + "; CREATE INDEX ON sandbox_events (sandbox_id, created_at, event_type)", mapping.EventMapping{}, false},
		"a falling order":  {many + "; CREATE INDEX ON sandbox_events (sandbox_id, event_type, created_at DESC)", mapping.EventMapping{}, false},
		"a partial index":  {many + "; " + indexByType + " WHERE event_type <> 'x'", mapping.EventMapping{}, false},
		"a longer index":   {many + "; " + strings.Replace(indexByType, ")", ", id)", 1), mapping.EventMapping{}, true},
		"split heartbeats": {many + "; " + indexByType, mapping.EventMapping{Heartbeat: []mapping.EventType{{Type: "x", Where: "true"}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pgtest.OmoiOS+pgtest.OmoiOSProgram, mapping.Mapping{Preset: "omoios", Events: c.m})
			w.exec(c.sql)
			w.exec("ANALYZE")
			w.live()
			if got := strings.Contains(w.tasks.known.live, "RECURSIVE"); got != c.want {
				t.Errorf("from type to type: %t, want %t", got, c.want)
			}
		})
	}
}

// TestFromTypeToTypeReadsFew: what is read follows from how many types there are, and not from how many events.
func TestFromTypeToTypeReadsFew(t *testing.T) {
	w := largeWorld(t)
	w.exec("TRUNCATE sandbox_events")
	w.exec(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at)
		SELECT n, 'box-' || n % 1000, CASE n % 7 WHEN 0 THEN 'agent.heartbeat' ELSE 'agent.tool_use' END,
			now() - n * interval '1 millisecond' FROM generate_series(1, 40000) AS n`)
	w.exec(indexByType)
	w.exec("VACUUM ANALYZE")
	p := w.plansTold()
	rows, err := w.tasks.Live(t.Context())
	if err != nil || len(rows.Tasks) != 100 {
		t.Fatalf("%d rows, %v", len(rows.Tasks), err)
	}
	if read := p.read(t, "sandbox_events"); read > 400 {
		t.Errorf("%d events were read of 100 workers with 40 each, of two types", read)
	}
	ids := []string{rows.Tasks[0].ID}
	p = w.plansTold()
	if _, err := w.tasks.ByID(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	if read := p.read(t, "sandbox_events"); read > 4 {
		t.Errorf("%d events were read of one worker", read)
	}
}
