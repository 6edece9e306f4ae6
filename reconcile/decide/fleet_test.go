package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// ledgerAge is how long ago a time of the ledger's clock was, "-" for none.
func ledgerAge(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return text.Duration(worldtest.LedgerNow.Sub(t))
}

func TestSeenTasks(t *testing.T) {
	line := func(s reconcile.TaskSeen) string {
		return fmt.Sprintf("%s %s since %s stale %v erred %v "+
			"live %v", s.ID, s.Status, ledgerAge(s.Since), !s.StaleStart.IsZero(), s.ErrorChanged, s.Live)
	}
	for name, c := range map[string]struct{ world, want string }{
		"new": {
			"task t1 pending", "t1 pending since 0s stale false erred false live true"},
		"as it was": {"task t1 pending; knew task t1 pending since=9m", ""},
		"another status": {
			"task t1 assigned; knew task t1 pending since=9m", "t1 assigned since 0s stale false erred false live true"},
		"its row was touched": {
			"task t1 assigned updated=1s; " +
				"knew task t1 assigned since=9m updated=1h", "t1 assigned since 9m stale false erred false live true"},
		"it took its start back along": {
			"task t1 pending started=2h; " +
				"knew task t1 running since=9m started=2h", "t1 pending since 0s stale true erred false live true"},
		"it started in this change": {
			"task t1 running started=1s; " +
				"knew task t1 assigned since=9m", "t1 running since 0s stale false erred false live true"},
		"it was started before it ran": {
			"task t1 running started=2h; " +
				"knew task t1 assigned since=9m started=2h stale=2h", "t1 running since 0s stale true erred false live true"},
		"an error appeared": {
			"task t1 assigned error=quota; " +
				"knew task t1 assigned since=9m", "t1 assigned since 9m stale false erred true live true"},
		"our own mark appeared": {
			`task t1 assigned error="gone [sandkeeper a1]"; ` +
				`knew task t1 assigned since=9m`, "t1 assigned since 9m stale false erred false live true"},
		"an error came with the status": {
			"task t1 assigned error=quota; " +
				"knew task t1 pending since=9m", "t1 assigned since 0s stale false erred false live true"},
		"it finished": {
			"row t1 completed; knew task t1 running since=9m", "t1 completed since 0s stale false erred false live false"},
		"it is gone": {
			"knew task t1 running since=9m", "t1 running since 9m stale false erred false live false"},
		"it is gone, and it may be the wrong table": {"tasks standby; knew task t1 running since=9m", ""},
		"one tenant's are gone, and others' are not": {
			"tasks tenants; knew task x{1..3} running since=9m tenant=evil; knew task o1 running since=9m tenant=ok; " +
				"task o1 running tenant=ok", ""},
		"a wrong table becomes no baseline": {"tasks standby; task t2 running", ""},
		"it had gone before":                {"knew task t1 completed since=9m", ""},
		"it was not read":                   {"unread t1; knew task t1 running since=9m", ""},
		"over before anybody watched, and a sandbox of ours names it": {
			"row t1 completed; box daytona/s1 running task=t1", "t1 completed since 0s stale false erred false live false"},
		"over before anybody watched, and its sandbox, too": {"row t1 completed; box daytona/s1 ended task=t1", ""},
		"over before anybody watched, and only rows make its sandbox ours": {
			"provider daytona referenced=yes; row t1 completed; box daytona/s1 running task=t1", ""},
		"over before anybody watched, and stopped": {
			"row t1 stopped; box daytona/s1 running task=t1", "t1 stopped since 0s stale false erred false live false"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range SeenTasks(JudgeWorld(worldtest.NewWorld(t, c.world)).View) {
				got = append(got, line(s))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("remembers %q, want %q", got, c.want)
			}
		})
	}
}

func TestSeenSandboxes(t *testing.T) {
	line := func(s reconcile.SandboxSeen) string {
		return fmt.Sprintf("%s %s of %q since %s gone %s resumed %s "+
			"ran %s", s.ID, s.State, s.Task, ledgerAge(s.StateSince), ledgerAge(s.GoneAt), ledgerAge(s.ResumedAt),
			ledgerAge(s.RanAt))
	}
	for name, c := range map[string]struct{ world, want string }{
		"new": {
			"box daytona/s1 running task=t1; task t1 running", `s1 running of "t1" since 0s gone - resumed - ran 0s`},
		"new and coming up": {"box daytona/s1 creating", `s1 creating of "" since 0s gone - resumed - ran -`},
		"not ours":          {"box daytona/s1 running owned=no", ""},
		"perhaps ours":      {"box daytona/s1 running task=t1 unproven=old; task t1 running", ""},
		"another state": {
			"box daytona/s1 stopped; " +
				"knew box daytona/s1 running since=9m", `s1 stopped of "" since 0s gone - resumed - ran -`},
		"it came back": {
			"box daytona/s1 running; " +
				"knew box daytona/s1 suspended since=9m", `s1 running of "" since 0s gone - resumed 0s ran 0s`},
		"it comes back": {
			"box daytona/s1 creating; " +
				"knew box daytona/s1 stopped since=9m", `s1 creating of "" since 0s gone - resumed 0s ran -`},
		"it came up": {
			"box daytona/s1 running; " +
				"knew box daytona/s1 creating since=9m", `s1 running of "" since 0s gone - resumed - ran 0s`},
		"its label is lost": {
			"box daytona/s1 stopped; knew box daytona/s1 running task=t1 since=9m; " +
				"row t1 completed", `s1 stopped of "t1" since 0s gone - resumed - ran -`},
		"it shows that a further table explains it": {
			"box daytona/s1 running; knew box daytona/s1 running task=t1 since=9m; explains specs daytona/s1; " +
				"row t1 completed", `s1 running of "" since 9m gone - resumed - ran 0s`},
		"it is used by another now": {
			"box daytona/s1 running task=t2; task t2 running; " +
				"knew box daytona/s1 running task=t1 since=9m", `s1 running of "t2" since 9m gone - resumed - ran 0s`},
		"it was looked at and gone": {
			"knew box daytona/s1 running since=9m; look daytona/s1 gone", `s1 running of "" since 0s gone 0s resumed - ran -`},
		"a live task's was looked at and gone": {
			"task t1 running; knew box daytona/s1 running task=t1 since=9m; " +
				"look daytona/s1 gone", `s1 running of "t1" since 0s gone 0s resumed - ran -`},
		"it was gone before":        {"knew box daytona/s1 running gone=9m; look daytona/s1 gone", ""},
		"it was not listed":         {"knew box daytona/s1 running since=9m", ""},
		"it could not be looked at": {"knew box daytona/s1 running since=9m; look daytona/s1 error", ""},
		"it was gone and is here": {
			"box daytona/s1 running; " +
				"knew box daytona/s1 running since=9m gone=5m", `s1 running of "" since 9m gone - resumed - ran 0s`},
		"it left a tombstone": {
			"box daytona/s1 ended; knew box daytona/s1 running since=9m", `s1 ended of "" since 0s gone 0s resumed - ran -`},
		"a tombstone that nothing proves ours": {
			"box daytona/s1 ended owned=no; task t1 running; knew box daytona/s1 running task=t1 since=9m",
			`s1 running of "t1" since 0s gone 0s resumed - ran -`},
		"its tombstone is known": {"box daytona/s1 ended; knew box daytona/s1 ended since=9m gone=9m", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			j := JudgeWorld(worldtest.NewWorld(t, c.world))
			for _, s := range SeenSandboxes(j.View, j.Decisions) {
				got = append(got, line(s))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("remembers %q, want %q", got, c.want)
			}
		})
	}
}

// Where only rows prove what is ours, what the ledger knows of a task is proof: a label in a listing, which may show
// another's, becomes none before a direct look shows it too.
func TestNoProofByAListing(t *testing.T) {
	const (
		torn   = "listing daytona missing=region-2; source listing:daytona untrusted; "
		task   = "task t1 running started=1h ev.heartbeat=9s; "
		listed = "box daytona/s1 running task=t1; "
	)
	for name, c := range map[string]struct {
		world string
		rows  bool // only rows prove what is ours
		want  bool
	}{
		"a label in a listing that is not trusted": {torn + task + listed, true, false},
		"where labels prove what is ours":          {torn + task + listed, false, true},
		"a label in one that is trusted":           {task + listed, true, false},
		"the same, looked at":                      {task + listed + "look daytona/s1 running task=t1", true, true},
		"the same, and it is another's":            {task + listed + "look daytona/s1 running task=t2", true, false},
		"the row names it": {
			torn + "provider daytona id=yes; task t1 running started=1h ev.heartbeat=9s sandbox=s1; " + listed, true, true},
		"a direct look shows the same":  {torn + task + "look daytona/s1 running task=t1", true, true},
		"a direct look shows another's": {torn + task + listed + "look daytona/s1 running task=t2", true, false},
		"it is known already":           {torn + task + listed + "knew box daytona/s1 creating task=t1", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, c.world)
			entry := w.P.Providers["daytona"]
			entry.Referenced = c.rows
			w.P.Providers["daytona"] = entry
			j := JudgeWorld(w)
			got := slices.ContainsFunc(SeenSandboxes(j.View, j.Decisions), func(s reconcile.SandboxSeen) bool {
				return s.ID == "s1" && s.Task == "t1"
			})
			if got != c.want {
				t.Errorf("remembers it as the task's: %t, want %t", got, c.want)
			}
		})
	}
}

func TestResolved(t *testing.T) {
	const orphaned = "finding orphan sandbox:daytona/s1 provider=daytona; "
	const missing = "finding sandbox-missing task:t1; "
	for name, c := range map[string]struct {
		world string
		want  bool
	}{
		"seen again": {orphaned + "box daytona/s1 running", false},
		"explained by now": {
			orphaned + "box daytona/s1 running task=t1; task t1 running started=1h", true},
		"gone":                         {orphaned, true},
		"gone, in a quick pass":        {"pass quick; " + orphaned, false},
		"gone, the listing failed":     {orphaned + "listing daytona failed=503", false},
		"gone, the table is a standby": {orphaned + "tasks standby", false},
		"gone, the link is lost":       {orphaned + "source link untrusted; box daytona/s9 running", false},
		"its rule is off":              {"rule orphan mode=off; " + orphaned + "box daytona/s1 running", true},
		"its task is well":             {missing + "task t1 running started=1h; box daytona/s1 running task=t1", true},
		"its task is well, in a quick pass": {
			"pass quick; " + missing + "task t1 running started=1h ev.heartbeat=5s", true},
		"its task has to be looked at":          {missing + "task t1 running started=1h; knew box daytona/s1 running task=t1", false},
		"nobody has seen a sandbox of its task": {missing + "task t1 running started=1h", true},
		"its task looks well, the listing failed": {
			"finding heartbeat-lost task:t1 provider=daytona; task t1 running started=1h ev.heartbeat=5s; " +
				"box daytona/s1 running task=t1; listing daytona failed=503", false},
		"its task is well by the first rule, in a quick pass": {
			"pass quick; finding finished-unrecorded task:t1; task t1 running started=1h ev.heartbeat=5s", true},
		"its task has finished":       {missing + "row t1 completed; knew task t1 running", true},
		"a rule that is not built":    {"finding over-age sandbox:daytona/s1; box daytona/s1 running", true},
		"a template, in a quick pass": {"pass quick; finding template-unusable template:daytona/light", false},
		"a template": {
			"finding template-unusable template:daytona/light; template daytona/light active", true},
		"a template that is still unusable": {
			"finding template-unusable template:daytona/light; template daytona/light inactive", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world)).Resolved; (len(got) == 1) != c.want || len(got) > 1 {
				t.Errorf("resolved = %v, want %v", got, c.want)
			}
		})
	}
}

func TestTemplateFindings(t *testing.T) {
	for name, c := range map[string]struct{ world, want string }{
		"active":   {"template daytona/light active", ""},
		"inactive": {"template daytona/light inactive", `snapshot "light" is inactive`},
		"failed, with its reason": {
			`template daytona/light failed error="no space"`, `snapshot "light" is failed (no space)`},
		"missing":        {"template daytona/light missing", `snapshot "light" is missing`},
		"still building": {"template daytona/light building", `snapshot "light" is building`},
		"not measured":   {`template daytona/light ""`, ""},
		"used before": {
			"template daytona/light inactive used=2h", `snapshot "light" is inactive, last used 2026-03-01 05:00:00 UTC`},
		"expires in 48h": {"template daytona/light active expires=-48h", ""},
		"expires in a second less": {
			"template daytona/light active expires=-47h59m59s", `snapshot "light" will be deactivated in 1d23h59m59s, at ` +
				`2026-03-03 06:59:59 UTC, unless it is used`},
		"expires in a second": {
			"template daytona/light active expires=-1s", `snapshot "light" will be deactivated in 1s, at ` +
				`2026-03-01 07:00:01 UTC, unless it is used`},
		"expires right now": {
			"template daytona/light active expires=0s", `snapshot "light" was due to be deactivated at ` +
				`2026-03-01 07:00:00 UTC and may be at any moment, unless it is used`},
		"its time is over": {
			"template daytona/light active expires=144h", `snapshot "light" was due to be deactivated at ` +
				`2026-02-23 07:00:00 UTC and may be at any moment, unless it is used`},
		"a vendor that says image": {
			"provider k8s kind=kubernetes; template k8s/light missing", `image "light" is missing`},
		"a vendor that says neither": {"provider e2b kind=e2b; template e2b/light missing", `template "light" is missing`},
		"the rule is off":            {"rule template-unusable mode=off; template daytona/light inactive", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range JudgeWorld(worldtest.NewWorld(t, c.world)).Reports {
				got = append(got, f.Reason)
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("reports %q, want %q", got, c.want)
			}
		})
	}
}

// A life sign from the future is one while it is news, and ages from when it was first seen:
// no worker lives for ever by a clock that it can wind.
func TestSignFromTheFuture(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	future := now.Add(24 * time.Hour)
	task := reconcile.Task{ID: "t1", AsOf: now, Events: reconcile.Events{Heartbeat: future}}
	for name, c := range map[string]struct {
		seen reconcile.TaskSeen
		asOf time.Time
		want bool
	}{
		"never seen before":             {reconcile.TaskSeen{}, now, true},
		"first seen 90s ago":            {reconcile.TaskSeen{AheadSign: future, AheadSince: now.Add(-90 * time.Second)}, now, true},
		"first seen 91s ago":            {reconcile.TaskSeen{AheadSign: future, AheadSince: now.Add(-91 * time.Second)}, now, false},
		"another one was seen long ago": {reconcile.TaskSeen{AheadSign: future.Add(-time.Second), AheadSince: now.Add(-time.Hour)}, now, true},
		"its time has come, and it was known long before": {
			reconcile.TaskSeen{AheadSign: future, AheadSince: now.Add(-time.Hour)}, future.Add(time.Second), false},
		"its time has come a while ago, and nobody watched": {
			reconcile.TaskSeen{AheadSign: future, AheadSince: now.Add(-time.Second)}, future.Add(2 * time.Minute), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &reconcile.Snapshot{Memory: reconcile.Memory{Now: now, Tasks: reconcile.RememberedOf(map[string]reconcile.TaskSeen{"t1": c.seen})}}
			task.AsOf = c.asOf
			if age, got := view.New(s, &reconcile.Policy{}).Alive(&task); got != c.want {
				t.Errorf("alive = %t at the age of %s, want %t", got, age, c.want)
			}
		})
	}
}

// An assigned_at that did not move when the task was handed out anew times nothing.
func TestStaleEntryColumn(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := &reconcile.Policy{Full: 2 * time.Minute}
	for name, c := range map[string]struct {
		seen  reconcile.TaskSeen
		known bool
		want  time.Duration
	}{
		"not seen before: the column is believed": {reconcile.TaskSeen{}, false, time.Hour},
		"seen in this state from the first":       {reconcile.TaskSeen{FirstSeen: now.Add(-time.Minute), Since: now.Add(-time.Minute)}, true, time.Hour},
		"seen in another state 5m ago":            {reconcile.TaskSeen{FirstSeen: now.Add(-2 * time.Hour), Since: now.Add(-5 * time.Minute)}, true, 5 * time.Minute},
		"seen in another state before it":         {reconcile.TaskSeen{FirstSeen: now.Add(-2 * time.Hour), Since: now.Add(-57 * time.Minute)}, true, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now}}, p)
			s := &reconcile.Subject{Task: &reconcile.Task{State: reconcile.TaskAssigned, AsOf: now, AssignedAt: now.Add(-time.Hour)}, Was: c.seen.Compact(), Known: c.known}
			if got, by := v.StateAge(s); got != c.want {
				t.Errorf("stateAge = %s by %s, want %s", got, by, c.want)
			}
		})
	}
}

// What is over was not over before its end, also where state_since has the time at which it began.
func TestEntryOfWhatIsOver(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		state        reconcile.TaskState
		since, ended time.Duration // ago; 0 where the row does not say
		want         time.Duration
		by           string
	}{
		"ended after state_since":     {reconcile.TaskCompleted, 6 * time.Hour, 5 * time.Hour, 5 * time.Hour, "ended_at"},
		"failed after state_since":    {reconcile.TaskFailed, 6 * time.Hour, 5 * time.Hour, 5 * time.Hour, "ended_at"},
		"stopped after state_since":   {reconcile.TaskStopped, 6 * time.Hour, 5 * time.Hour, 5 * time.Hour, "ended_at"},
		"both at once":                {reconcile.TaskCompleted, 5 * time.Hour, 5 * time.Hour, 5 * time.Hour, "state_since"},
		"an end of an earlier try":    {reconcile.TaskCompleted, 5 * time.Hour, 6 * time.Hour, 5 * time.Hour, "state_since"},
		"no end":                      {reconcile.TaskCompleted, 5 * time.Hour, 0, 5 * time.Hour, "state_since"},
		"no state_since":              {reconcile.TaskCompleted, 0, 5 * time.Hour, 5 * time.Hour, "ended_at"},
		"neither":                     {reconcile.TaskCompleted, 0, 0, 0, ""},
		"it runs: the end is of then": {reconcile.TaskRunning, 6 * time.Hour, 5 * time.Hour, 6 * time.Hour, "state_since"},
		"its clock is behind":         {reconcile.TaskCompleted, 6 * time.Hour, -time.Minute, 0, "ended_at"},
	} {
		t.Run(name, func(t *testing.T) {
			ago := func(d time.Duration) time.Time {
				if d == 0 {
					return time.Time{}
				}
				return now.Add(-d)
			}
			v := view.New(&reconcile.Snapshot{Memory: reconcile.Memory{Now: now}}, &reconcile.Policy{})
			s := &reconcile.Subject{Task: &reconcile.Task{State: c.state, AsOf: now, StateSince: ago(c.since), EndedAt: ago(c.ended)}}
			if got, by := v.StateAge(s); got != c.want || by != c.by {
				t.Errorf("it is over for %s by %q, want %s by %q", got, by, c.want, c.by)
			}
		})
	}
}

// What is of a provider that left the config is nobody's here: it makes no budget larger
// and explains nothing.
func TestProviderThatLeft(t *testing.T) {
	s := &reconcile.Snapshot{Kind: reconcile.Quick, Memory: reconcile.Memory{Now: worldtest.LedgerNow}}
	for _, ref := range []reconcile.Ref{{Provider: "daytona", ID: "s1"}, {Provider: "daytona", ID: "s2"}, {Provider: "old", ID: "s1"}, {Provider: "old", ID: "s2"}, {Provider: "old", ID: "s3"}} {
		s.Memory.Sandboxes.Put(ref, reconcile.SandboxSeen{Ref: ref, State: reconcile.SandboxRunning})
	}
	p := &reconcile.Policy{Providers: map[string]reconcile.ProviderPolicy{"daytona": {}}}

	if got := view.New(s, p).Fleet(); got != 2 {
		t.Errorf("fleet of a quick pass is %d, want 2", got)
	}
	s.TakeInventory(p)
	if len(s.Sandboxes) != 2 || s.Sandboxes[0].Provider != "daytona" {
		t.Errorf("inventory of a worker is %v, want the two at daytona", s.Sandboxes)
	}
}

// TestBeyondUsual: how many sandboxes of one task are more than its row says are usual.
func TestBeyondUsual(t *testing.T) {
	for name, c := range map[string]struct {
		world string
		want  int
	}{
		"one each":               {"task t{1..3} running; box daytona/s{1..3} running task=t{1..3}", 0},
		"none of it":             {"task t1 running", 0},
		"five on one":            {"task t1 running; box daytona/s{1..5} running task=t1", 4},
		"three are usual":        {"task t1 running sandboxes=3; box daytona/s{1..5} running task=t1", 2},
		"of a task that is over": {"row t1 completed; box daytona/s{1..5} running task=t1", 4},
		"ended and foreign ones": {"task t1 running; box daytona/s1 running task=t1; box daytona/s2 ended task=t1; " +
			"box daytona/s3 running task=t1 owned=no", 0},
	} {
		t.Run(name, func(t *testing.T) {
			j := JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world))
			if got := j.Counts[reconcile.CountBeyond]; got != c.want {
				t.Errorf("beyond what is usual = %d, want %d", got, c.want)
			}
		})
	}
}
