package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

func TestNormalise(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                       {"", ""},
		"plain words stay":              {"No space left on device", "no space left on device"},
		"an id in hex":                  {"runner 7f3a9b2c lost", "runner # lost"},
		"an id of letters alone":        {"runner deadbeef lost", "runner # lost"},
		"seven such letters are a word": {"file defaced", "file defaced"},
		"a uuid":                        {"sandbox 8c02ffe6-26b9-4b1c-9d6e-0a1b2c3d4e5f failed", "sandbox # failed"},
		"a number":                      {"exit code 137", "exit code #"},
		"a time":                        {"at 2026-03-01T12:00:07Z: gone", "at #: gone"},
		"a time with spaces":            {"at 2026-03-01 12:00:07, gone", "at #, gone"},
		"an address":                    {"dial tcp 10.0.0.7:443: connection refused", "dial tcp #: connection refused"},
		"several in a row are one":      {"tasks 1, 2, 3 failed", "tasks # failed"},
		"a name in double quotes":       {`snapshot "ai dev" is inactive`, "snapshot # is inactive"},
		"a name in single quotes":       {"snapshot 'ai dev' is inactive", "snapshot # is inactive"},
		"a name in back quotes":         {"snapshot `ai dev` is inactive", "snapshot # is inactive"},
		"an apostrophe is no quote":     {"can't start, won't stop", "can't start, won't stop"},
		"a quote that never closes":     {`said "no`, `said "no`},
		"lines and blanks":              {"one\n\ttwo   three", "one two three"},
		"a blob":                        {"key " + strings.Repeat("q", 65), "key #"},
		"a long word is a word":         {"key " + strings.Repeat("q", 64), "key " + strings.Repeat("q", 64)},
		"what follows a number stays":   {"502 Bad Gateway", "# bad gateway"},
		"our own sign":                  {"# 1 #", "#"},
		"a long text ends with a word":  {strings.Repeat("abcd ", 100), strings.TrimSpace(strings.Repeat("abcd ", 40))},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Normalise(c.text); got != c.want {
				t.Errorf("Normalise(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// TestSignature: what makes two failures the same.
func TestSignature(t *testing.T) {
	const world = "task t1 running started=1h timeout=10m ev.heartbeat=9s; box daytona/s1 running task=t1; " +
		"task t2 running started=2h timeout=20m ev.heartbeat=5s; "
	for name, c := range map[string]struct {
		world string
		same  bool
	}{
		"other times, other sandboxes":     {"box daytona/s2 running task=t2", true},
		"another provider":                 {"provider e2b; box e2b/s2 running task=t2", false},
		"another template":                 {"box daytona/s2 running task=t2 template=gpu", false},
		"the provider's word for it":       {"box daytona/s2 failed task=t2 error=\"disk full\"", false},
		"a word about a sandbox that runs": {"box daytona/s2 running task=t2 error=\"disk full\"", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, world, c.world)
			w.Only("deadline-exceeded")
			j := JudgeWorld(w)
			if len(j.Verdicts) != 2 || j.Verdicts[0].Signature == "" {
				t.Fatalf("verdicts = %+v, want two with a signature", j.Verdicts)
			}
			if got := j.Verdicts[0].Signature == j.Verdicts[1].Signature; got != c.same {
				t.Errorf("same signature: %v, want %v\n%+v", got, c.same, j.Verdicts)
			}
		})
	}
}

// TestErrorOfAFailure: the platform's own words count when they came in this state and are
// not ours.
func TestErrorOfAFailure(t *testing.T) {
	for name, c := range map[string]struct{ world, want string }{
		"noted in this state":  {`knew task t1 assigned since=4m erred=yes; task t1 assigned updated=4m error="no runner 7"`, "no runner #"},
		"noted before":         {`knew task t1 assigned since=4m; task t1 assigned updated=4m error="no runner 7"`, ""},
		"written by us":        {`knew task t1 assigned since=4m erred=yes; task t1 assigned updated=4m error="gone [sandkeeper x1]"`, ""},
		"noted in another one": {`knew task t1 pending since=4m erred=yes; task t1 assigned updated=4m error="no runner 7"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, "find t1 none", c.world)
			w.Only("assigned-stale")
			j := JudgeWorld(w)
			if len(j.Verdicts) != 1 || j.Verdicts[0].Error != c.want {
				t.Errorf("verdicts = %+v, want one with the error %q", j.Verdicts, c.want)
			}
		})
	}
}
