package tasks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestRunAgainOnOmoiOS runs what victims prints on the platform's own table: only rows that
// still carry our mark are changed.
func TestRunAgainOnOmoiOS(t *testing.T) {
	db, err := pgx.Connect(t.Context(), pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(t.Context()) })
	if _, err := db.Exec(t.Context(), pgtest.OmoiOS+pgtest.OmoiOSProgram); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for name, row := range map[string][2]string{
		"ours":                     {"failed", "worker never started [sandkeeper abc]"},
		"failed again by its own":  {"failed", "out of tokens"},
		"run again by the user":    {"running", "worker never started [sandkeeper abc]"},
		"ours, of another failure": {"failed", "worker never started [sandkeeper abd]"},
	} {
		var id string
		err := db.QueryRow(t.Context(), `INSERT INTO program.tasks (status, error_message, sandbox_id, retry_count)
			VALUES ($1, $2, 'box', 1) RETURNING id::text`, row[0], row[1]).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	c, err := Compile(mapping.Mapping{Preset: "omoios"}.WithPreset())
	if err != nil {
		t.Fatal(err)
	}
	sql := c.RunAgain([]string{ids["ours"], ids["failed again by its own"], ids["run again by the user"]}, "it's i-1")
	if !strings.Contains(sql, `sandkeeper's own write set them: "completed_at"`) {
		t.Errorf("it does not say that completed_at stays:\n%s", sql)
	}
	if _, err := db.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%v in:\n%s", err, sql)
	}
	got := map[string]string{}
	for name, id := range ids {
		var status string
		err := db.QueryRow(t.Context(), `SELECT concat_ws(' ', status, coalesce(sandbox_id, 'none'), retry_count, error_message)
			FROM tasks WHERE id = $1`, id).Scan(&status)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = status
	}
	want := map[string]string{
		"ours":                     "pending none 2 it's i-1",
		"failed again by its own":  "failed box 1 out of tokens",
		"run again by the user":    "running box 1 worker never started [sandkeeper abc]",
		"ours, of another failure": "failed box 1 worker never started [sandkeeper abd]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s\nafter:\n%s", diff, sql)
	}
}

// TestRunAgainIsQuoted: whatever a platform's ids, names and expressions look like.
func TestRunAgainIsQuoted(t *testing.T) {
	m := mapping.Mapping{
		Preset: "none", Table: `odd."ta""sks"`,
		Columns:  map[string]string{"id": "Id", "status": "status", "error": "why"},
		Statuses: map[string][]string{"pending": {"to do"}, "running": {"on"}, "failed": {"it's over"}},
		Fail:     mapping.RowChange{Status: "it's over", Set: map[string]string{"why": "@reason"}},
		Requeue:  mapping.RowChange{Status: "to do", Set: map[string]string{"why": `concat('@reason ''is'' ', @reason, "@reason")`}},
	}
	c, err := Compile(m.WithPreset())
	if err != nil {
		t.Fatal(err)
	}
	got := c.RunAgain([]string{"a", "b'); DROP TABLE x; --", "c"}, "d'oh")
	for _, want := range []string{
		`UPDATE "odd"."ta""sks"`, `"status" = 'to do'`, `"why" = (concat('@reason ''is'' ', 'd''oh'::text, "@reason"))`,
		`WHERE "Id" IN (`, `'b''); DROP TABLE x; --'`, `AND "status" = 'it''s over'`, `("why")::text LIKE '%[sandkeeper %]%'`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in:\n%s", want, got)
		}
	}
}

// TestRunAgainWithoutRequeue only reads, and says why.
func TestRunAgainWithoutRequeue(t *testing.T) {
	c, err := Compile(mapping.Mapping{Preset: "coding-agent"}.WithPreset())
	if err != nil {
		t.Fatal(err)
	}
	got := c.RunAgain([]string{"t1"}, "why")
	if strings.Contains(got, "UPDATE") || !strings.Contains(got, "SELECT *") || !strings.Contains(got, "not configured") {
		t.Errorf("RunAgain = %s", got)
	}
}
