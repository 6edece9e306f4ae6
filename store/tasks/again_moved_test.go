package tasks

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

const (
	jobs = `CREATE TABLE jobs (id text PRIMARY KEY, status text, note text);
		INSERT INTO jobs SELECT n::text, 'running' FROM generate_series(1, 20) AS n`
	farJobs = `; CREATE EXTENSION IF NOT EXISTS postgres_fdw;
		DO $$ BEGIN EXECUTE format('CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS
			(dbname %L, host %L, port %L)', current_database(),
			split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port')); END $$;
		CREATE USER MAPPING FOR CURRENT_USER SERVER here;
		CREATE FOREIGN TABLE far (id text, status text, note text) SERVER here OPTIONS (table_name 'jobs')`
)

func jobsIn(table string) mapping.Mapping {
	return mapping.Mapping{Table: table, Columns: map[string]string{"id": "id", "status": "status", "error": "note"},
		Statuses: map[string][]string{"running": {"running"}}}
}

// TestMovedRowsAreReadAgain: a table that is written anew keeps who wrote its rows, and moves them.
func TestMovedRowsAreReadAgain(t *testing.T) {
	for name, rewrite := range map[string]string{"vacuum": "VACUUM FULL jobs", "cluster": "CLUSTER jobs USING jobs_pkey"} {
		t.Run(name, func(t *testing.T) {
			w, b := newWorld(t, jobs, jobsIn("jobs")), newBook()
			w.again(b)
			w.again(b)
			w.exec("UPDATE jobs SET note = 'a' WHERE id = '1'")
			w.again(b)
			w.exec("UPDATE jobs SET status = 'done' WHERE id = '2'")
			w.exec(rewrite)
			w.again(b)
		})
	}
}

// TestForeignRowsAreReadAgain: no transaction of this server tells of the rows of a foreign table.
func TestForeignRowsAreReadAgain(t *testing.T) {
	w, b := newWorld(t, jobs+farJobs, jobsIn("far")), newBook()
	w.again(b)
	w.again(b)
	w.exec("DELETE FROM jobs WHERE id = '20'")
	w.exec("VACUUM jobs")
	w.exec("INSERT INTO jobs VALUES ('21', 'running')")
	w.again(b)
	w.exec("UPDATE jobs SET note = 'a'")
	w.again(b)
}

// TestRowsWithoutIdsAreLeftOut: a row that has no id cannot be asked for, and hides no other.
func TestRowsWithoutIdsAreLeftOut(t *testing.T) {
	const table = `CREATE TABLE jobs (id text, status text, note text);
		INSERT INTO jobs VALUES ('1', 'running'), (NULL, 'running'), ('2', 'running')`
	for _, from := range []string{"", "CREATE VIEW v AS SELECT *, 1 AS more FROM jobs"} {
		w, b, m := newWorld(t, table+";"+from, jobsIn("jobs")), newBook(), jobsIn("jobs")
		if from != "" {
			m.Table, m.From = "", "v"
			w.tasks = w.open(m)
			w.tasks.RememberEvents()
		}
		rows, done, err := w.tasks.LiveAgain(t.Context(), b, always)
		if err != nil || !done || len(rows.Tasks) > 0 || len(b.rows) != 2 {
			t.Errorf("of a table with a row that has no id %v are known: done = %t, %v", b.rows, done, err)
		}
	}
}

// TestRowsAfterACrash: what was committed and not written yet is lost, and the numbers of its transactions come again.
func TestRowsAfterACrash(t *testing.T) {
	cluster, err := pgtest.Launch(t.Context(), pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, dsn: cluster.DSN("postgres")}
	if w.pool, err = pgxpool.New(t.Context(), w.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.pool.Close)
	w.exec(jobs)
	w.tasks = w.open(jobsIn("jobs"))
	w.tasks.RememberEvents()
	w.exec("CHECKPOINT")
	b := newBook()
	w.again(b)
	w.again(b)
	if len(b.read) > 0 {
		t.Fatalf("%d rows are read although nothing changed", len(b.read))
	}
	other, err := pgx.Connect(t.Context(), w.dsn)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(w.text("SELECT pg_backend_pid()"))
	if err != nil {
		t.Fatal(err)
	}
	started := w.text("SELECT pg_postmaster_start_time()::text")
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for other.Ping(t.Context()) == nil {
		time.Sleep(50 * time.Millisecond) // the server learns of it, and ends all sessions
	}
	for w.pool.Reset(); w.pool.Ping(t.Context()) != nil; w.pool.Reset() {
		time.Sleep(50 * time.Millisecond) // it recovers
	}
	if again := w.text("SELECT pg_postmaster_start_time()::text"); again != started {
		t.Fatalf("the server was started at %s, and again at %s: this is no recovery", started, again)
	}
	if w.again(b); len(b.read) != 20 {
		t.Errorf("%d rows are read again after a crash, want 20", len(b.read))
	}
}
