package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

func TestSum(t *testing.T) {
	const min = time.Minute
	wrong := func(kind string, since, deed, until time.Duration, lasts bool) *platform.Wrong {
		return &platform.Wrong{Kind: kind, Since: since, Deed: deed, Until: until, Lasts: lasts}
	}
	s := Sum("a", []Outcome{
		{Janitor: "a", Kills: []platform.Kill{{Kind: "work"}, {Kind: "kept"}, {Kind: "work", Excused: "nobody could know"}},
			Wrongs: []*platform.Wrong{
				wrong(platform.WrongTask, min, 3*min, 3*min, false), // found after 2m
				wrong(platform.WrongTask, min, -1, 5*min, false),    // went away by itself
				wrong(platform.WrongTask, min, -1, 60*min, true),    // missed
				wrong(platform.WrongSandbox, 0, 90*min, 90*min, false),
			}},
		{Janitor: "a", Kills: []platform.Kill{{Kind: "work", Excused: "nobody could know"}},
			Wrongs: []*platform.Wrong{wrong(platform.WrongSandbox, 0, -1, 30*min, true)}},
		{Janitor: "another", Kills: []platform.Kill{{Kind: "work"}}},
	})
	if s.Worlds != 2 || s.Harmed != 1 || s.FalseKills() != 2 || s.Excused != 2 {
		t.Errorf("worlds %d, harmed %d, false kills %d, excused %d: want 2, 1, 2, 2", s.Worlds, s.Harmed, s.FalseKills(), s.Excused)
	}
	if s.Tasks.All != 3 || s.Tasks.Missed != 1 || len(s.Tasks.Times) != 1 || s.Tasks.Times[0] != 2*min {
		t.Errorf("tasks %+v, want 3, 1 missed, 1 found after 2m", s.Tasks)
	}
	if s.Leaks.All != 2 || s.Leaks.Missed != 1 || s.Wasted != 2*time.Hour {
		t.Errorf("leaks %+v and %s wasted, want 2, 1 missed, 2h", s.Leaks, s.Wasted)
	}
}

func TestQuantile(t *testing.T) {
	f := Found{Times: []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}
	for name, c := range map[string]struct {
		f     Found
		share float64
		want  time.Duration
	}{
		"the median":         {f, 0.5, 5},
		"nearly all":         {f, 0.95, 10},
		"exactly nine":       {f, 0.9, 9},
		"of one":             {Found{Times: []time.Duration{7}}, 0.5, 7},
		"nothing was found":  {Found{}, 0.5, -1},
		"the smallest share": {f, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.f.Quantile(c.share); got != c.want {
				t.Errorf("Quantile(%v) = %v, want %v", c.share, got, c.want)
			}
		})
	}
}

func TestBrief(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"never": -1, "0s": 0, "59s": 59*time.Second + 999*time.Millisecond, "1m00s": time.Minute,
		"9m59s": 10*time.Minute - 1, "10m": 10 * time.Minute, "59m": time.Hour - 1, "1h00m": time.Hour, "4h07m": 247 * time.Minute,
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestTables(t *testing.T) {
	outcomes := []Outcome{
		{Janitor: Sandkeeper, World: "quiet"},
		{Janitor: "OmoiOS", World: "quiet", Kills: []platform.Kill{{Kind: "work"}, {Kind: "foreign"}}},
	}
	for name, c := range map[string]struct{ table, line string }{
		"all":    {Table(outcomes), "| OmoiOS | 2 | 1 of 1 | 0 | 0 | 0 | never | never | 0 | 0 | never | never | 0 |"},
		"losses": {Losses(outcomes), "| OmoiOS | 1 | 0 | 0 | 1 |"},
		"worlds": {ByWorld(outcomes), "| quiet | 0 (0) / 0 / 0.0 | 0 (0) / 0 / 0.0 | 2 (0) / 0 / 0.0 |"},
	} {
		if !strings.Contains(c.table, c.line) {
			t.Errorf("%s:\n%s\nhas no line %q", name, c.table, c.line)
		}
	}
}

// TestLevel: everybody runs under the same conditions, and nothing of the world is lost.
func TestLevel(t *testing.T) {
	s, err := simtest.Parse("test", `seed 1
calm 1h
kind full
provider lab exclusive=yes required=no
probe lab every=2m worker=none
rule orphan mode=observe
limits per_pass=1 share=1 breaker=1 per_hour=1
process once every 2m
process look every 5m
task t1 running age=1h
@1m config rule orphan mode=off
@2m operator hold task:t1
@3m crash once Live 1 after for 20s
@4m fault lab list empty for 2m
@5m worker t1 die
@6m fault ledger any error for 1m
`)
	if err != nil {
		t.Fatal(err)
	}
	before := s.String()
	got := World{Script: s}.Level().String()
	want := `seed 1
calm 1h0m0s
kind full
provider lab exclusive=yes
task t1 running age=1h
process replica-1 quick 15s full 2m first 5s small 20
limits per_pass=20 share=10 breaker=30 per_hour=200
probe lab worker=pgrep-worker
@3m crash any Live 1 after for 20s
@4m fault lab list empty for 2m
@5m worker t1 die
@6m fault ledger any error for 1m
`
	if strings.ReplaceAll(got, "calm 1h\n", "calm 1h0m0s\n") != want {
		t.Errorf("Level() =\n%s\nwant\n%s", got, want)
	}
	if s.String() != before {
		t.Error("the script itself was changed")
	}
}
