package propose_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/propose"
)

var update = flag.Bool("update", false, "write testdata/*.yaml")

func TestMain(m *testing.M) { pgtest.Main(m) }

// frame is what stands around each mapping here.
var frame = propose.Frame{Installation: "prod", Providers: `  - name: daytona
    kind: daytona
    token: ${DAYTONA_API_KEY}
    owns: {labels: {sandkeeper: prod}}
    link: {task_label: task_id}`}

// TestProposals: what is proposed for schemas that exist, each made in a real database.
func TestProposals(t *testing.T) {
	cases := map[string]string{"omoios": pgtest.OmoiOS + pgtest.OmoiOSProgram, "coding-agent": pgtest.CodingAgent}
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases[strings.TrimSuffix(filepath.Base(file), ".sql")] = string(text)
	}
	for name, schema := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := database(t)
			if _, err := pool.Exec(t.Context(), schema); err != nil {
				t.Fatal(err)
			}
			holds(t, name, pool)
		})
	}
	t.Run("river", func(t *testing.T) {
		t.Parallel()
		pool := database(t)
		m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
		if err == nil {
			_, err = m.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		holds(t, "river", pool)
	})
}

func database(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// holds compares what is proposed with its golden file.
func holds(t *testing.T, name string, pool *pgxpool.Pool) {
	t.Helper()
	cat, err := propose.Read(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	got, golden := propose.Propose(cat).YAML(frame), filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// TestPresetsAreRecognised: a database with the tables of a preset is that platform's, one that lacks a column is not.
func TestPresetsAreRecognised(t *testing.T) {
	for _, preset := range mapping.Presets() {
		tables := tasks.PresetTables(preset)
		if preset == "none" {
			continue
		}
		if len(tables) == 0 {
			t.Errorf("%s is recognised by nothing", preset)
		}
		var cat propose.Catalog
		for _, x := range tables {
			table := propose.Table{Schema: x.Schema, Name: x.Name}
			for _, c := range x.Columns {
				table.Columns = append(table.Columns, propose.Column{Name: c, Type: "text"})
			}
			cat.Tables = append(cat.Tables, table)
		}
		if got := propose.Propose(&cat).Preset.Value; got != preset {
			t.Errorf("the tables of %s are taken for those of %q", preset, got)
		}
		cat.Tables = cat.Tables[1:]
		if got := propose.Propose(&cat).Preset.Value; got == preset {
			t.Errorf("%s is recognised without %s", preset, tables[0].Name)
		}
	}
}
