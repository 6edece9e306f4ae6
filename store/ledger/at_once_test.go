package ledger

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/storetest"
)

// TestReadsHoweverStatementsAreSent: a pass recalls and a page shows the same however statements are sent.
func TestReadsHoweverStatementsAreSent(t *testing.T) {
	g := browsed(t)
	exported := cmp.Exporter(func(reflect.Type) bool { return true })
	type known struct {
		Memory   *reconcile.Memory
		Overview reconcile.Overview
		Trends   reconcile.Trends
	}
	knownBy := func(t *testing.T, g *Ledger) (k known) {
		t.Helper()
		m, err := g.Recall(t.Context())
		if err == nil {
			k.Memory = &m
			k.Overview, err = g.Overview(t.Context(), 10)
		}
		if err == nil {
			k.Trends, err = g.Trends(t.Context(), time.Hour, 24)
		}
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := knownBy(t, g)
	url := g.pool.Config().ConnString()
	with := "?"
	if strings.Contains(url, "?") {
		with = "&"
	}
	for _, mode := range []string{"cache_describe", "describe_exec"} {
		t.Run(mode, func(t *testing.T) {
			other := NewLedger(ledgerPool(t, url+with+"default_query_exec_mode="+mode),
				Options{Installation: "test", Clock: atNoon})
			got := knownBy(t, other)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), exported); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRecordsHoweverStatementsAreSent: what a pass writes is remembered alike however its statements are sent.
func TestRecordsHoweverStatementsAreSent(t *testing.T) {
	var want reconcile.Memory
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec"} {
		t.Run(mode, func(t *testing.T) {
			url := pgtest.Database(t)
			with := "?"
			if strings.Contains(url, "?") {
				with = "&"
			}
			g := migrated(t, ledgerPool(t, url), atNoon)
			g = NewLedger(ledgerPool(t, url+with+"default_query_exec_mode="+mode), Options{Installation: "test", Clock: atNoon})
			lease, err := g.TakeLease(t.Context(), "one", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			box := reconcile.Ref{Provider: "lab", ID: "s1"}
			pass, err := g.BeginPass(t.Context(), lease, reconcile.Full, ledgerNoon)
			if err != nil {
				t.Fatal(err)
			}
			err = g.Record(t.Context(), lease, reconcile.Record{Pass: pass, Complete: true, WatchSince: ledgerNoon,
				Tasks: []reconcile.TaskSeen{{ID: "t1", State: reconcile.TaskRunning, Live: true, Sandbox: "s1"},
					{ID: "t\"2, \\{}", State: reconcile.TaskAssigned, Live: true}},
				Sandboxes: []reconcile.SandboxSeen{{Ref: box, Task: "t1", State: reconcile.SandboxRunning}},
				Findings:  []reconcile.Finding{{Rule: "orphan", Subject: "task:t1"}},
				Actions: []reconcile.Action{{ID: "a1", Remedy: "a1", Rule: "orphan", Subject: "task:t1", Step: reconcile.StepFail,
					PlannedAt: ledgerNoon}},
				Events: []reconcile.TimelineEvent{{At: ledgerNoon, Subject: "task:t1", Kind: "seen", What: "seen"}}})
			if err != nil {
				t.Fatal(err)
			}
			got := recalled(t, g)
			if mode == "cache_statement" {
				want = got
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), storetest.Remembers); diff != "" {
				t.Error(diff)
			}
		})
	}
}
