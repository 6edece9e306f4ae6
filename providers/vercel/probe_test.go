package vercel

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func policy() reconcile.ProbePolicy {
	return reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Second}
}

// What each answer to a probe means.
func TestProbeAnswers(t *testing.T) {
	const (
		cmd, read = "POST " + path1 + "/cmd", "POST " + path1 + "/fs/read"
		stream    = "application/x-ndjson: "
		fine      = stream + `{"command":{"exitCode":null}}` + "\n" + `{"command":{"exitCode":0,"durationMs":3}}`
		file      = "application/octet-stream: sbx_1\n"
	)
	for name, test := range map[string]struct {
		cmd, read string
		want      reconcile.ProbeOutcome
		said      string
	}{
		"healthy":                   {fine, file, reconcile.Answered, "exec: exit 0; files of /: 6 bytes"},
		"an empty file":             {fine, "application/octet-stream: ", reconcile.Answered, "0 bytes"},
		"the command fails":         {stream + `{"command":{"exitCode":1}}`, file, reconcile.Answered, "exit 1"},
		"it has no such file":       {fine, "404 not_found File not found.", reconcile.Answered, "listed"},
		"it is a folder":            {fine, "400 file_error is a directory", reconcile.Answered, "listed"},
		"its file system is gone":   {stream + `{"command":{"exitCode":2}}`, "404 not_found File not found.", reconcile.CannotStart, "ls: exit 2"},
		"cannot fork":               {stream + `{"command":{"exitCode":-1}}`, file, reconcile.CannotStart, "exit -1"},
		"killed for its time":       {stream + `{"command":{"exitCode":137,"durationMs":1000}}`, file, reconcile.Hung, "killed after 1s"},
		"killed before its time":    {stream + `{"command":{"exitCode":137,"durationMs":999}}`, file, reconcile.Answered, "exit 137"},
		"it ends without an end":    {stream + `{"command":{"exitCode":null}}`, file, reconcile.Infrastructure, "ended before the command"},
		"it ends amid a line":       {stream + `{"command":{"exitC`, file, reconcile.Infrastructure, "no command"},
		"an empty stream":           {stream, file, reconcile.Infrastructure, "ended before the command"},
		"the stream breaks":         {stream + `{"stream":"error","data":{"code":"x","message":"secret-key"}}`, file, reconcile.Infrastructure, "[token]"},
		"output before the end":     {stream + `{"stream":"stdout","data":"hi"}` + "\n" + `{"command":{"exitCode":0}}`, file, reconcile.Answered, "exit 0"},
		"a page":                    {"text/html: <html>", file, reconcile.Infrastructure, "no command"},
		"a page for a file":         {fine, "text/html: <html>", reconcile.Infrastructure, "no file"},
		"the image lacks it":        {"400 executable_not_found No such executable", file, reconcile.Infrastructure, "executable_not_found"},
		"it is over":                {"410 sandbox_stopped over", "410 sandbox_stopped over", reconcile.NotAllowed, "410"},
		"it is on its way":          {"422 sandbox_stopping not now", "422 sandbox_stopping not now", reconcile.NotAllowed, "422"},
		"it is snapshotted":         {"422 sandbox_snapshotting not now", "422 sandbox_snapshotting not now", reconcile.NotAllowed, "422"},
		"410 of something else":     {"410 gone retired", file, reconcile.Infrastructure, "410"},
		"no such session":           {"404 not_found Session not found.", "404 not_found Session not found.", reconcile.Infrastructure, "404"},
		"500":                       {"500 internal oops", file, reconcile.CannotStart, "500"},
		"500 of the file alone":     {fine, "500 internal oops", reconcile.CannotStart, "500"},
		"a page that says 500":      {"500-page", file, reconcile.Infrastructure, "500"},
		"504":                       {"504 timeout oops", file, reconcile.CannotStart, "504"},
		"408":                       {"408 timeout oops", file, reconcile.Hung, "408"},
		"429":                       {"429 rate_limited slow down", file, reconcile.Infrastructure, "429"},
		"402":                       {"402 payment_required limit", file, reconcile.Infrastructure, "402"},
		"403":                       {"403 forbidden no", file, reconcile.Infrastructure, "403"},
		"one half fails, one hangs": {"500 internal oops", "408 timeout oops", reconcile.CannotStart, "500"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{says: map[string]string{cmd: test.cmd, read: test.read}}
				got := s.provider(t).Probe(t.Context(), mine(reconcile.SandboxRunning), policy())
				if got.Outcome != test.want || !strings.Contains(got.Detail, test.said) || strings.Contains(got.Detail, "secret") {
					t.Errorf("Probe = %+v, want %s: %s", got, test.want, test.said)
				}
			})
		})
	}
}

// A secret that a clipped text would cut in two does not stay in part.
func TestProbeKeepsNoPartOfASecret(t *testing.T) {
	long := strings.Repeat("x", 160-len(`the stream broke: {"message":"`)-len("secret"))
	s := &script{says: map[string]string{"POST " + path1 + "/cmd": `application/x-ndjson: {"stream":"error","data":{"message":"` +
		long + `secret-key"}}`}}
	policy := reconcile.ProbePolicy{Exec: "true", Timeout: time.Second}
	if got := s.provider(t).Probe(t.Context(), mine(reconcile.SandboxRunning), policy); strings.Contains(got.Detail, "secret") {
		t.Errorf("Probe says %q", got.Detail)
	}
}

// Nothing but what is known to run is called at all.
func TestProbeOnlyWhatRuns(t *testing.T) {
	for _, state := range []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxDeleting,
		reconcile.SandboxEnded, reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxUnknown} {
		s := &script{}
		if got := s.provider(t).Probe(t.Context(), mine(state), policy()); got.Outcome != reconcile.NotAllowed ||
			len(s.asked) != 0 {
			t.Errorf("Probe of one that is %q = %+v after %v, want no call", state, got, s.asked)
		}
	}
}

// lab is the adapter over the simulator, with a clock that is moved by hand.
func lab(t *testing.T, o verceltest.Options, extra ...string) (*Provider, *simulated.World, *simulated.Clock) {
	t.Helper()
	clock := simulated.NewClock(noon)
	world := simulated.New(simulated.Options{Now: clock.Now, IDs: verceltest.ID})
	e := providertest.Entry("vercel", Abilities)
	e.Extra = map[string]string{"team": verceltest.Team, "project": verceltest.Project}
	for i := 0; i < len(extra); i += 2 {
		e.Extra[extra[i]] = extra[i+1]
	}
	o.Key = e.Token
	e.URL = "http://lab.test/api"
	p, err := New(e, entry.Options{Transport: wiretest.Transport(verceltest.New(world, o)), Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return p, world, clock
}

// A probe goes by the paths and commands that it is given.
func TestProbePaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, world, _ := lab(t, verceltest.Options{Missing: []string{"node"}})
		b := world.Put(simulated.Sandbox{Disk: map[string]string{"/work/.ready": "yes"}})
		s, err := p.Get(t.Context(), b.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			exec, path string
			want       reconcile.ProbeOutcome
			said       string
		}{
			"a file":             {"", "/work/.ready", reconcile.Answered, "3 bytes"},
			"a folder":           {"", "/work", reconcile.Answered, "listed"},
			"the root":           {"", "/", reconcile.Answered, "bytes"},
			"a lost file":        {"", "/work/lost", reconcile.CannotStart, "ls: exit 2"},
			"a command of words": {"test -e /work", "", reconcile.Answered, "exit 0"},
			"a missing command":  {"node", "", reconcile.Infrastructure, "executable_not_found"},
			"a sleep too long":   {"sleep 10", "", reconcile.Hung, "killed"},
		} {
			got := p.Probe(t.Context(), s, reconcile.ProbePolicy{Exec: test.exec, Path: test.path, Timeout: time.Second})
			if got.Outcome != test.want || !strings.Contains(got.Detail, test.said) {
				t.Errorf("%s: Probe = %+v, want %s: %s", name, got, test.want, test.said)
			}
		}
	})
}
