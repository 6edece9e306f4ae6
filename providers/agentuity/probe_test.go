package agentuity

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var both = reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: 5 * time.Second}

// The calls of a probe.
const (
	look       = "GET usc /sandbox/sbx_1"
	executions = "GET usc /sandbox/sandboxes/sbx_1/executions"
	execute    = "POST usc /sandbox/sbx_1/execute"
	ended      = "GET usc /sandbox/execution/exe_1"
	files      = "GET usc /fs/list/sbx_1"
	jobs       = "GET usc /sandbox/sandboxes/sbx_1/jobs"
	events     = "GET usc /sandbox/sandboxes/sbx_1/events"
)

func data(body string) reply { return reply{200, `{"success":true,"data":` + body + `}`, nil} }

func fails(status int, code, words string) reply {
	return reply{status, fmt.Sprintf(`{"success":false,"code":%q,"message":%q}`, code, words), nil}
}

var (
	taken  = data(`{"executionId":"exe_1","status":"running"}`)
	well   = data(`{"executionId":"exe_1","sandboxId":"sbx_1","status":"completed","exitCode":0}`)
	nobody = data(`{"executions":[]}`)
	files2 = data(`{"files":[{"path":"bin"},{"path":"etc"}]}`)
	noJobs = data(`{"jobs":[]}`)
	fault  = fails(500, "", "Internal Server Error")
	cow    = fails(404, "", "stat /x/cow-merged/home: no such file or directory")
	busy1  = fails(409, "SANDBOX_BUSY", "sandbox is busy")
)

// queued are executions, newest first: "" is somebody's, a number is ours, asked for that
// many seconds before now; a word is a state of somebody's that was taken up.
func queued(all ...string) reply {
	var out []string
	for i, e := range all {
		command, status, started := `["bun","run","task.ts"]`, "queued", ""
		var ago int
		if n, _ := fmt.Sscanf(e, "%d", &ago); n == 1 {
			command = fmt.Sprintf(`["sh","-c","true","sandkeeper-probe-%d"]`, noon.Unix()-int64(ago))
		} else if e != "" {
			status, started = e, `,"startedAt":"2026-11-01T11:59:00Z"`
		}
		out = append(out, fmt.Sprintf(`{"executionId":"exe_q%d","sandboxId":"sbx_1","status":%q,"command":%s%s}`, i, status,
			command, started))
	}
	return data(`{"executions":[` + strings.Join(out, ",") + `]}`)
}

// sound are the replies of a sandbox in which all is well.
func sound() map[string][]reply {
	return map[string][]reply{look: {{200, one, nil}}, executions: {nobody}, execute: {taken}, ended: {well},
		files: {files2}, jobs: {noJobs}}
}

// The facts of the answers, one by one.
func TestProbeVerdicts(t *testing.T) {
	type replies = map[string][]reply
	left1 := []reply{nobody, queued("0")} // a probe leaves one behind
	for name, test := range map[string]struct {
		instead replies
		want    reconcile.ProbeOutcome
		detail  string
		execs   int
	}{
		"all is well":              {nil, reconcile.Answered, "exec: exit 0; files of /: 2 entries", 1},
		"a command that fails ran": {replies{ended: {data(`{"executionId":"exe_1","status":"failed","exitCode":3}`)}}, reconcile.Answered, "exit 3", 1},
		"no exit code":             {replies{ended: {data(`{"executionId":"exe_1","status":"completed"}`)}}, reconcile.Answered, "exec: ended", 1},
		"it is over at once":       {replies{execute: {data(`{"executionId":"exe_1","status":"completed","exitCode":0}`)}}, reconcile.Answered, "exit 0", 1},
		"an empty folder":          {replies{files: {data(`{"files":[]}`)}}, reconcile.Answered, "0 entries", 1},
		"busy is alive":            {replies{execute: {busy1}}, reconcile.Answered, "busy", 1},
		"busy by its words":        {replies{execute: {fails(409, "", "Sandbox is currently busy")}}, reconcile.Answered, "busy", 1},
		"busy without words":       {replies{execute: {{409, ``, nil}}}, reconcile.Answered, "busy", 1},
		"a limit that says 409":    {replies{execute: {{409, ``, []string{"Retry-After", "9"}}}}, reconcile.NotAllowed, "409", 1},
		"terminated says 409":      {replies{execute: {fails(409, "SANDBOX_TERMINATED", "over")}}, reconcile.NotAllowed, "409", 1},
		"paused says 409":          {replies{execute: {fails(409, "", "sandbox is paused")}}, reconcile.NotAllowed, "409", 1},
		"200 and busy": {replies{execute: {{200, `{"success":false,"code":"SANDBOX_BUSY","message":"x"}`, nil}}},
			reconcile.Answered, "busy", 1},
		"cannot fork": {replies{ended: {data(`{"executionId":"exe_1","status":"failed","error":"fork/exec: no such file"}`)}},
			reconcile.CannotStart, "fork/exec", 1},
		"no process starts":     {replies{ended: {data(`{"executionId":"exe_1","status":"failed","exitCode":-1}`)}}, reconcile.CannotStart, "exit -1", 1},
		"the command times out": {replies{ended: {data(`{"executionId":"exe_1","status":"timeout"}`)}}, reconcile.Hung, "timed out", 1},
		"the command is cancelled": {replies{ended: {data(`{"executionId":"exe_1","status":"cancelled"}`)}}, reconcile.Infrastructure,
			"cancelled", 1},
		"a word that nobody knows": {replies{ended: {data(`{"executionId":"exe_1","status":"melting"}`)}}, reconcile.Infrastructure, "melting", 1},
		"it is never run":          {replies{ended: {data(`{"executionId":"exe_1","status":"queued"}`)}}, reconcile.Hung, "queued after 5s", 1},
		"it never ends":            {replies{ended: {data(`{"executionId":"exe_1","status":"running"}`)}}, reconcile.Hung, "running after 5s", 1},
		"it waits behind one that runs": {replies{executions: {queued("running")}, ended: {data(`{"executionId":"exe_1","status":"queued"}`)}},
			reconcile.Infrastructure, "behind another execution", 1},
		"it waits behind one that runs, and the files are gone": {replies{executions: {queued("running")}, files: {cow},
			ended: {data(`{"executionId":"exe_1","status":"queued"}`)}}, reconcile.CannotStart, "cow-merged", 1},
		"it waits behind one that is over": {replies{executions: {queued("completed")}, ended: {data(`{"executionId":"exe_1","status":"queued"}`)}},
			reconcile.Hung, "queued after 5s", 1},
		"it cannot be asked about": {replies{ended: {fails(404, "EXECUTION_NOT_FOUND", "execution not found")}}, reconcile.Infrastructure, "404", 1},
		"a page instead":           {replies{execute: {{200, `<html>`, []string{"Content-Type", "text/html"}}}}, reconcile.Infrastructure, "", 1},
		"no execution":             {replies{execute: {data(`{}`)}}, reconcile.Infrastructure, "no execution", 1},

		"a single 500 is not broken": {replies{execute: {fault, taken}}, reconcile.Answered, "exit 0", 2},
		"a 500 that left one behind": {replies{execute: {fault}, executions: left1}, reconcile.Infrastructure, "once", 1},
		"500 twice, none left":       {replies{execute: {fault}}, reconcile.CannotStart, "500", 2},
		"500 now and before": {replies{execute: {fault}, executions: {queued("60")}},
			reconcile.CannotStart, "500", 1},
		"500 now, and long ago": {replies{execute: {fault}, executions: {queued("3700"), queued("0", "3700")}},
			reconcile.Infrastructure, "once", 1},
		"500 now, and before that it worked": {replies{execute: {fault}, executions: {queued("completed", "60"), queued("0", "completed", "60")}},
			reconcile.Infrastructure, "once", 1},
		"500 now, and one runs": {replies{execute: {fault}, executions: {queued("60", "running"), queued("0", "60", "running")}},
			reconcile.Infrastructure, "once", 1},
		"500, then busy": {replies{execute: {fault, busy1}}, reconcile.Answered, "busy", 2},
		"500, then a new start": {replies{execute: {fault, fails(503, "", "restarting")}}, reconcile.Infrastructure,
			"503", 2},
		"500, and the executions are lost": {replies{execute: {fault}, executions: {nobody, fails(500, "", "x")}}, reconcile.Infrastructure, "once", 1},

		"502": {replies{execute: {fails(502, "", "x")}}, reconcile.Infrastructure, "502", 1},
		"503": {replies{execute: {fails(503, "", "x")}}, reconcile.Infrastructure, "503", 1},
		"501": {replies{execute: {fails(501, "", "x")}}, reconcile.Infrastructure, "501", 1},
		"404 while it comes up": {replies{execute: {fails(404, "SANDBOX_NOT_FOUND", "sandbox not found")}},
			reconcile.Infrastructure, "404", 1},
		"elsewhere":          {replies{execute: {{421, `{}`, nil}}}, reconcile.Infrastructure, "421", 1},
		"the key is refused": {replies{execute: {fails(401, "", "x")}}, reconcile.Infrastructure, "401", 1},
		"a limit":            {replies{execute: {{429, `{}`, nil}}}, reconcile.Infrastructure, "429", 1},
		"no plan":            {replies{execute: {fails(402, "", "x")}}, reconcile.Infrastructure, "402", 1},

		"the files are gone, twice":     {replies{files: {cow}}, reconcile.CannotStart, "cow-merged", 1},
		"no such file, twice":           {replies{files: {fails(404, "", "open /: no such file or directory")}}, reconcile.CannotStart, "no such file", 1},
		"200 and no such file, twice":   {replies{files: {{200, `{"success":false,"message":"cow-merged is gone"}`, nil}}}, reconcile.CannotStart, "cow-merged", 1},
		"files answer 500, twice":       {replies{files: {fault}}, reconcile.CannotStart, "500", 1},
		"files fail once":               {replies{files: {cow, files2}}, reconcile.Answered, "2 entries", 1},
		"files fail once, then unclear": {replies{files: {cow, fails(503, "", "x")}}, reconcile.Infrastructure, "503", 1},
		"another 404 of files":          {replies{files: {fails(404, "", "Not Found")}}, reconcile.Infrastructure, "404", 1},
		"busy files":                    {replies{files: {busy1}}, reconcile.Answered, "busy", 1},
		"no list":                       {replies{files: {data(`{}`)}}, reconcile.Infrastructure, "no file list", 1},
		"busy, and the files are gone":  {replies{execute: {busy1}, files: {cow}}, reconcile.CannotStart, "cow-merged", 1},
		"two kinds at once":             {replies{execute: {fault}, executions: left1, files: {cow}}, reconcile.CannotStart, "exec: 500", 1},

		"a job that runs for ever": {replies{execute: {fault}, executions: left1,
			jobs: {data(`{"jobs":[{"jobId":"job_1","status":"running","startedAt":"2026-10-30T12:00:00Z"}]}`)}},
			reconcile.CannotStart, "job job_1 says running for 48h", 1},
		"a job that runs for a while": {replies{execute: {fault}, executions: left1,
			jobs: {data(`{"jobs":[{"jobId":"job_1","status":"running","startedAt":"2026-11-01T11:00:00Z"}]}`)}},
			reconcile.Infrastructure, "once", 1},
		"a job longer than it may": {replies{look: {{200, strings.Replace(one, `"executions"`, `"timeout":{"execution":"5m"},"executions"`, 1), nil}},
			execute: {fault}, executions: left1,
			jobs: {data(`{"jobs":[{"jobId":"job_1","status":"running","startedAt":"2026-11-01T11:00:00Z"}]}`)}},
			reconcile.CannotStart, "job_1", 1},
		"a job that is over": {replies{execute: {fault}, executions: left1,
			jobs: {data(`{"jobs":[{"jobId":"job_1","status":"completed","startedAt":"2026-10-30T12:00:00Z"}]}`)}},
			reconcile.Infrastructure, "once", 1},
		"the jobs are lost": {replies{execute: {fault}, executions: left1, jobs: {fails(500, "", "x")}}, reconcile.Infrastructure, "once", 1},

		"the executions are not known":               {replies{executions: {fails(500, "", "x")}}, reconcile.Infrastructure, "executions", 0},
		"not known, and the files are gone":          {replies{executions: {fails(500, "", "x")}, files: {cow}}, reconcile.CannotStart, "cow-merged", 0},
		"room for one more":                          {replies{executions: {queued("60", "70", "80", "90")}}, reconcile.Answered, "exit 0", 1},
		"five are left, and it was asked lately":     {replies{executions: {queued("590", "700", "800", "900", "999")}}, reconcile.Infrastructure, "5 commands of earlier probes", 0},
		"five are left, of a while ago":              {replies{executions: {queued("600", "700", "800", "900", "999")}}, reconcile.Answered, "exit 0", 1},
		"six are left, of a while ago":               {replies{executions: {queued("600", "700", "800", "900", "999", "1000")}}, reconcile.Infrastructure, "6 commands", 0},
		"eight are left, of long ago":                {replies{executions: {queued("99999", "99999", "99999", "99999", "99999", "99999", "99999", "99999")}}, reconcile.Infrastructure, "8 commands", 0},
		"eight are left, and the files are gone too": {replies{executions: {queued("9", "9", "9", "9", "9", "9", "9", "9")}, files: {cow}}, reconcile.CannotStart, "cow-merged", 0},

		"it was paused meanwhile":    {replies{look: {{200, being("paused"), nil}}}, reconcile.NotAllowed, "paused now", 0},
		"it was suspended meanwhile": {replies{look: {{200, being("suspended"), nil}}}, reconcile.NotAllowed, "suspended now", 0},
		"it ended meanwhile":         {replies{look: {{200, being("terminated"), nil}}}, reconcile.NotAllowed, "terminated now", 0},
		"nobody knows its word now":  {replies{look: {{200, being("evacuating"), nil}}}, reconcile.NotAllowed, "evacuating now", 0},
		"it was paused after a command failed": {replies{look: {{200, one, nil}, {200, being("paused"), nil}}, execute: {fault}},
			reconcile.NotAllowed, "paused now", 1},
		"it was paused after a command hung": {replies{look: {{200, one, nil}, {200, being("paused"), nil}},
			ended: {data(`{"executionId":"exe_1","status":"running"}`)}}, reconcile.NotAllowed, "paused now", 1},
		"it is gone":             {replies{look: {{404, none, nil}}}, reconcile.Infrastructure, "look first", 0},
		"it cannot be looked at": {replies{look: {fault}}, reconcile.Infrastructure, "look first", 0},
	} {
		synctest.Test(t, func(t *testing.T) { // it waits for ends that do not come
			all := sound()
			for name, answers := range test.instead {
				all[name] = answers
			}
			d := answering(all)
			got := over(t, d).Probe(t.Context(), sb1, both)
			if got.Outcome != test.want || !strings.Contains(got.Detail, test.detail) || d.times(execute) != test.execs {
				t.Errorf("%s: Probe = %s (%s) after %d commands; want %s (%s) after %d", name, got.Outcome, got.Detail,
					d.times(execute), test.want, test.detail, test.execs)
			}
		})
	}
}

// Where probes are rare, the one before counts all the same.
func TestProbeTwiceWhereProbesAreRare(t *testing.T) {
	for every, want := range map[time.Duration]reconcile.ProbeOutcome{
		0: reconcile.Infrastructure, 40 * time.Minute: reconcile.CannotStart,
	} {
		all := sound()
		all[execute], all[executions] = []reply{fault}, []reply{queued("3700"), queued("0", "3700")}
		policy := both
		policy.Every = every
		if got := over(t, answering(all)).Probe(t.Context(), sb1, policy); got.Outcome != want {
			t.Errorf("Probe every %s, an hour after one that failed = %+v, want %s", every, got, want)
		}
	}
}

// The request of a probe: a command that names itself and when it was asked for.
func TestProbeAsks(t *testing.T) {
	d := answering(sound())
	over(t, d).Probe(t.Context(), sb1, both)
	want := []string{
		look + "?includeDeleted=true&orgId=org_1 ",
		executions + "?limit=100&orgId=org_1 ",
		execute + `?orgId=org_1 {"command":["sh","-c","true","sandkeeper-probe-1793534400"],"timeout":"5s"}`,
		ended + "?orgId=org_1&wait=5s ",
		files + "?orgId=org_1&path=%2F ",
	}
	if strings.Join(d.sent, "\n") != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(d.sent, "\n"), strings.Join(want, "\n"))
	}
	for policy, want := range map[reconcile.ProbePolicy]int{{Exec: "true", Timeout: time.Second}: 4, {Path: "/", Timeout: time.Second}: 2} {
		d := answering(sound())
		if got := over(t, d).Probe(t.Context(), sb1, policy); got.Outcome != reconcile.Answered || len(d.asked) != want {
			t.Errorf("Probe(%+v) = %+v after %v", policy, got, d.asked)
		}
	}
}

// What rests is not called at all: a command would wake it.
func TestProbeNeverCallsWhatRests(t *testing.T) {
	for _, word := range []string{"creating", "paused", "suspended", "stopping", "terminated", "failed", "evacuating"} {
		d := answering(sound())
		s := sb1
		s.Raw, s.State = word, states[word]
		got := over(t, d).Probe(t.Context(), s, both)
		if got.Outcome != reconcile.NotAllowed || len(d.asked) != 0 {
			t.Errorf("Probe of one that is %s = %+v after %v; want no call", word, got, d.asked)
		}
	}
}

// One that was woken all the same is our own fault, and told.
func TestProbeThatWokeIsTold(t *testing.T) {
	all := sound()
	all[execute] = []reply{{200, `{"success":true,"data":{"executionId":"exe_1","status":"running"},"autoResumed":true}`, nil}}
	var log strings.Builder
	p, err := New(lab(), entry.Options{Transport: wiretest.Transport(answering(all)),
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Probe(t.Context(), sb1, both)
	if got.Outcome != reconcile.NotAllowed || !strings.Contains(got.Detail, "woke it") ||
		!strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "sbx_1") {
		t.Errorf("Probe = %+v, log %q; want it told", got, log.String())
	}
}

// A command that hangs is hung, and one that its caller left is not.
func TestProbeOfOneThatHangs(t *testing.T) {
	for name, test := range map[string]struct {
		at       simulated.Kind
		patience time.Duration
		want     reconcile.ProbeOutcome
	}{
		"the command hangs":    {simulated.Exec, time.Minute, reconcile.Hung},
		"the files hang":       {simulated.Files, time.Minute, reconcile.Hung},
		"the look hangs":       {simulated.Get, time.Minute, reconcile.Infrastructure},
		"the executions hang":  {simulated.Queue, time.Minute, reconcile.Infrastructure},
		"its caller goes away": {simulated.Exec, time.Second, reconcile.Infrastructure},
	} {
		synctest.Test(t, func(t *testing.T) {
			world := simulated.New(simulated.Options{IDs: agentuitytest.IDs})
			server := agentuitytest.New(world, agentuitytest.Options{Key: "s3cret-key"})
			p := over(t, server)
			s, err := p.Get(t.Context(), world.Put(simulated.Sandbox{Name: "mine-1"}).ID)
			if err != nil {
				t.Fatal(err)
			}
			world.Inject(simulated.Fault{On: test.at, Effect: simulated.Hang})
			ctx, cancel := context.WithTimeout(t.Context(), test.patience)
			defer cancel()
			if got := p.Probe(ctx, s, both); got.Outcome != test.want {
				t.Errorf("%s: Probe = %+v, want %s", name, got, test.want)
			}
		})
	}
}

// A sandbox that breaks as in agentuity/sdk#1350 and comes back: what the probes say of it,
// one after the other, and how many commands they leave in its queue.
func TestProbesOfOneThatBreaks(t *testing.T) {
	clock := simulated.NewClock(noon)
	world := simulated.New(simulated.Options{IDs: agentuitytest.IDs, Now: clock.Now})
	p := over(t, agentuitytest.New(world, agentuitytest.Options{Key: "s3cret-key"}))
	id := world.Put(simulated.Sandbox{Name: "mine-1"}).ID
	s, err := p.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	probe := func(when string, want reconcile.ProbeOutcome, left int) {
		t.Helper()
		clock.Advance(time.Minute)
		got := p.Probe(t.Context(), s, both)
		if b, _ := world.Sandbox(id); got.Outcome != want || len(b.Queued) != left {
			t.Errorf("%s: Probe = %s (%s), %d left; want %s, %d left", when, got.Outcome, got.Detail, len(b.Queued), want, left)
		}
	}
	probe("well", reconcile.Answered, 0)
	world.Change(id, func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
	probe("commands fail, once", reconcile.Infrastructure, 1)
	probe("twice", reconcile.CannotStart, 2)
	world.Change(id, func(b *simulated.Sandbox) { b.Files = simulated.Lost })
	probe("the files too", reconcile.CannotStart, 3)
	probe("still", reconcile.CannotStart, 4)
	probe("still", reconcile.CannotStart, 5)
	probe("the command is not asked for any more, the files are", reconcile.CannotStart, 5)
	world.Change(id, func(b *simulated.Sandbox) { b.Files = simulated.Healthy })
	probe("the files are back, the command is not asked for", reconcile.Infrastructure, 5)
	clock.Advance(10 * time.Minute)
	world.Change(id, func(b *simulated.Sandbox) { b.Exec = simulated.Healthy })
	probe("it works again, and what was left stays queued", reconcile.Answered, 5)
	if got, err := p.Executions(t.Context(), s); err != nil || got != (reconcile.ExecutionsSeen{}) {
		t.Errorf("Executions = %+v, %v; want none: what probes left is not its work", got, err)
	}
	for range 20 {
		world.Change(id, func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
		clock.Advance(3 * time.Hour)
		p.Probe(t.Context(), s, both)
	}
	if b, _ := world.Sandbox(id); len(b.Queued) != wire.MostLeft {
		t.Errorf("%d are left at last, want %d", len(b.Queued), wire.MostLeft)
	}
}

// A sandbox's 401 is told apart from a revoked key by asking the data plane for the sandbox.
func TestProbeDoesNotOpenTheCircuit(t *testing.T) {
	all := sound()
	all[execute], all[files] = []reply{fails(http.StatusUnauthorized, "", "x")}, []reply{fails(http.StatusUnauthorized, "", "x")}
	p := over(t, answering(all))
	if got := p.Probe(t.Context(), sb1, both); got.Outcome != reconcile.Infrastructure {
		t.Errorf("Probe = %+v, want nothing known", got)
	}
	if _, err := p.Get(t.Context(), "sbx_1"); err != nil {
		t.Errorf("Get after it = %v, want a sandbox", err)
	}
}
