package main

import (
	"fmt"

	"github.com/jackc/pgx/v5"
)

// well reports whether everything broken is repaired and nothing is left to do.
func (au *auditor) well() bool {
	return len(au.unrepaired()) == 0 && au.count("SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL") == 0
}

// unrepaired are the ills that are still there.
func (au *auditor) unrepaired() (out []string) {
	au.Helper()
	ills := au.p.sickness()
	var tasks []string
	for _, x := range ills {
		tasks = append(tasks, x.task)
	}
	statuses := au.statuses(tasks)
	for _, x := range ills {
		if x.failed && statuses[x.task] != "failed" {
			out = append(out, fmt.Sprintf("%s: task %s is %s", x.kind, x.task, statuses[x.task]))
		}
		if x.ended && !au.gone(x.box) {
			out = append(out, fmt.Sprintf("%s: sandbox %s is still there", x.kind, x.box))
		}
	}
	return out
}

// statuses are those of the tasks that have a row.
func (au *auditor) statuses(tasks []string) map[string]string {
	au.Helper()
	rows, err := au.db.Query(au.Context(), "SELECT id::text, status FROM tasks WHERE id = ANY($1)", tasks)
	if err != nil {
		au.Fatal(err)
	}
	out := map[string]string{}
	var id, status string
	if _, err := pgx.ForEachRow(rows, []any{&id, &status}, func() error { out[id] = status; return nil }); err != nil {
		au.Fatal(err)
	}
	return out
}

func (au *auditor) gone(box string) bool {
	s, known := au.cloud.Sandbox(box)
	return !known || s.Gone
}
