package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

const beforeMapping = "installation: x\ndatabase: postgres://a@b/c\nproviders: [{name: lab, kind: simulated, url: http://lab.example, owns: {name_prefix: x-}, link: {task_label: t}}]\n"

// mapped is a config with these sections.
func mapped(t *testing.T, sections string) *Config {
	t.Helper()
	c, err := Parse("c.yaml", []byte(beforeMapping+sections), env(nil))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEventTypesOfTheConfig: a type is one word, or has a condition; what is not given is the
// preset's, and what is given empty is not.
func TestEventTypesOfTheConfig(t *testing.T) {
	c := mapped(t, `
tasks: {preset: omoios, columns: {activity_mark: "(updated_at)", sandboxes: "(1)"}}
events:
  columns: {task: "(event_data->>'task_id')"}
  finished: [done, {type: over, where: "data->>'ok' = 'true'"}]
  started: []
  set: {source: "'platform'"}
`)
	e := c.Mapping().WithPreset().Events
	want := []mapping.EventType{{Type: "done"}, {Type: "over", Where: "data->>'ok' = 'true'"}}
	if diff := cmp.Diff(want, e.Finished); diff != "" || len(e.Started) != 0 || len(e.Heartbeat) != 1 {
		t.Errorf("started %v, heartbeat %v, finished (-want +got)\n%s", e.Started, e.Heartbeat, diff)
	}
	set := map[string]string{"id": "gen_random_uuid()::text", "source": "'platform'"}
	if diff := cmp.Diff(set, e.Set); diff != "" || e.Columns["task"] == "" {
		t.Errorf("columns %v, set (-want +got)\n%s", e.Columns, diff)
	}
}

// TestExplainedByOfTheConfig: the policy has the preset's, those of the file, or none.
func TestExplainedByOfTheConfig(t *testing.T) {
	for sections, want := range map[string][]reconcile.Explanation{
		"tasks: {preset: omoios}":                   {{Table: "public.specs", Label: "spec_id"}},
		"tasks: {preset: omoios, explained_by: []}": nil,
		`tasks:
  preset: omoios
  explained_by: [{table: public.boxes, key: name, name: true}, {table: a, key: b, where: "c", label: d}]`: {
			{Table: "public.boxes"}, {Table: "a", Label: "d"}},
	} {
		if diff := cmp.Diff(want, mapped(t, sections).Policy().Tasks.ExplainedBy); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sections, diff)
		}
	}
	_, err := Parse("c.yaml", []byte(beforeMapping+`
tasks: {preset: omoios, explained_by: [{table: a, key: "(b)", label: c}]}
events: {finished: [{type: x, wher: y}, {type: z, where: "a; b"}]}
`), env(nil))
	const said = `c.yaml:5:51: tasks.explained_by[0].key: must be a column, not an expression; name the column
c.yaml:6:31: events.finished[0]: unknown key "wher"; did you mean "where"?
c.yaml:6:51: events.finished[1].where: the expression contains a semicolon: it must be one expression, at character 2`
	if err == nil || err.Error() != said {
		t.Errorf("mistakes:\n%v\nwant\n%s", err, said)
	}
}
