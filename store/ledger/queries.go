package ledger

import (
	"embed"
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/store"
)

//go:embed queries/*.sql
var queryFiles embed.FS

var queries = inBuckets(store.Queries(queryFiles))

// buckets are what a recall of tasks or sandboxes comes in: so few of a large fleet are in each that one which holds
// something else is read again, and so few they are that a pass may ask for all.
const buckets = 1 << 12

// inBuckets makes of each recall of very many the statements that tell whether any of it has changed, which buckets of
// it have, and what is in some: of the very rows that a recall reads. What it reads of each is in one row of a table,
// and nothing else: so where that stands, and which transaction wrote it, stands for it, in one file of the table and
// one run of the server. A table that is written anew keeps who wrote its rows and moves them; at another server, and
// after a restart or a crash of this one, a transaction of that number may have written something else. Whatever this
// leaves out stands until the next full pass, which recalls everything.
func inBuckets(queries map[string]string) map[string]string {
	for recall, of := range map[string][2]string{"recall_tasks": {"task_states", "task_states."},
		"recall_sandboxes": {"sandboxes", "s."}} {
		whole := queries[recall]
		columns, _, _ := strings.Cut(whole[strings.Index(whole, "SELECT ")+len("SELECT "):], "\nFROM")
		bucket := fmt.Sprintf("hashtidextended(%sctid, 0) & %d AS bucket", of[1], buckets-1)
		run := fmt.Sprintf("(SELECT hashtextextended(concat_ws(' ', pg_postmaster_start_time(), b.stats_reset,\n"+
			"pg_relation_filenode('sandkeeper.%s')), @seed) FROM pg_stat_bgwriter AS b)", of[0])
		sum := fmt.Sprintf("hashtidextended(%[1]sctid, %[1]sxmin::text::bigint # %[2]s) AS sum", of[1], run)
		recalled := func(text, instead string) string {
			return "WITH recalled AS (\n" + strings.ReplaceAll(text, columns, instead) + "\n)\n"
		}
		lately := whole
		if recall == "recall_sandboxes" { // those of live tasks that are gone for long take a look-up by each live task
			at := strings.LastIndex(whole, "UNION ALL")
			old := strings.TrimPrefix(whole[at:], "UNION ALL")
			queries[recall+"_old"] = recalled(old, "s.ctid AS tid") + queries["recall_old"]
			lately = whole[:at]
			lately += "UNION ALL\nSELECT " + columns + "\nFROM sandkeeper.sandboxes s\n" +
				"WHERE s.ctid = ANY (@old::text[]::tid[])\n"
		}
		queries[recall+"_any"] = recalled(lately, sum) + queries["recall_any"]
		queries[recall+"_sums"] = recalled(whole, bucket+", "+sum) + queries["recall_sums"]
		queries[recall+"_some"] = recalled(whole, columns+", "+bucket) + queries["recall_some"]
	}
	for _, part := range []string{"recall_any", "recall_old", "recall_sums", "recall_some"} {
		delete(queries, part)
	}
	return queries
}
