package tasks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// TestGrantsOfPresets: what each preset needs, and no table that is none.
func TestGrantsOfPresets(t *testing.T) {
	for preset, want := range map[string][]string{
		"omoios": {`SELECT "public"."tasks"`, `SELECT "public"."sandbox_events"`, `SELECT "public"."specs"`,
			`SELECT "public"."tickets"`, `SELECT "public"."projects"`,
			`UPDATE "public"."tasks" "status" "completed_at" "error_message" "conversation_id" "retry_count" "sandbox_id"`},
		"coder": {`SELECT "public"."workspaces"`, `SELECT "public"."workspace_builds"`, `SELECT "public"."provisioner_jobs"`,
			`SELECT "public"."workspace_agents"`, `SELECT "public"."workspace_resources"`},
		"kortix": {`SELECT "kortix"."session_sandboxes"`, `SELECT "kortix"."session_environments"`,
			`SELECT "kortix"."project_monitor_boxes"`},
		"prefect": {`SELECT "public"."flow_run"`, `SELECT "public"."events"`,
			`UPDATE "public"."flow_run" "state_type" "context" "end_time" "state_name" "state_timestamp"`},
	} {
		c, err := Compile(mapping.Mapping{Preset: preset}.WithPreset())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range c.Grants() {
			got = append(got, strings.Join(append([]string{g.Privilege, g.Table}, g.Columns...), " "))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", preset, diff)
		}
	}
}

func TestRelationsIn(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT 1 FROM a JOIN b.c ON true":                        "a b.c",
		`SELECT FROM public."TaskRun" r, lateral (SELECT FROM x)`: `public."TaskRun" x`,
		"WITH q AS (SELECT FROM t) SELECT FROM q":                 "t",
		"SELECT FROM unnest(ARRAY[1]) u":                          "",
		"(extract(epoch FROM created_at))":                        "", "a IS NOT DISTINCT FROM b": "",
		"(extract(epoch FROM '2020 FROM z'::timestamptz))": "",
	} {
		if got := strings.Join(relationsIn(sql), " "); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
