package score

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func targetsPolicy() *reconcile.Policy {
	return &reconcile.Policy{Quick: 15 * time.Second, Rules: map[string]reconcile.RulePolicy{
		"stop-ignored": {After: 5 * time.Second}, "capacity": {AtRest: 5},
	}}
}

// TestTargets: both sides of each aim, and nothing is made of what was not measured.
func TestTargets(t *testing.T) {
	t.Parallel()
	ended := func(n int) map[string]int { return map[string]int{"completed": n - 1, "stopped": 1} }
	const missed, met, unknown = "missed", "met", "not measured"
	for name, c := range map[string]struct {
		scores reconcile.Scores
		target string
		want   string
		value  string
	}{
		"no terminate":                {reconcile.Scores{}, "terminations-confirmed", unknown, "nothing to measure"},
		"38 of 40 confirmed":          {reconcile.Scores{Asked: 40, Confirmed: 38}, "terminations-confirmed", met, "95 % of 40"},
		"37 of 39 confirmed":          {reconcile.Scores{Asked: 39, Confirmed: 37}, "terminations-confirmed", missed, "94.8 % of 39"},
		"a hair below 95 %":           {reconcile.Scores{Asked: 100_000, Confirmed: 94_999}, "terminations-confirmed", missed, "94.9 % of 100000"},
		"none of one":                 {reconcile.Scores{Asked: 1}, "terminations-confirmed", missed, "0 % of 1"},
		"all gone fast":               {reconcile.Scores{Gone: 7, GoneFast: 7}, "terminations-fast", met, "100 % of 7"},
		"one of 19 slow":              {reconcile.Scores{Gone: 19, GoneFast: 18}, "terminations-fast", missed, "94.7 % of 19"},
		"one of 20 slow":              {reconcile.Scores{Gone: 20, GoneFast: 19}, "terminations-fast", met, "95 % of 20"},
		"none gone":                   {reconcile.Scores{}, "terminations-fast", unknown, "nothing to measure"},
		"no stop":                     {reconcile.Scores{}, "stop-response", unknown, "nothing to measure"},
		"stops in time":               {reconcile.Scores{Stops: 20, StopsFast: 19}, "stop-response", met, "95 % of 20"},
		"stops too late":              {reconcile.Scores{Stops: 20, StopsFast: 18}, "stop-response", missed, "90 % of 20"},
		"stuck ones in time":          {reconcile.Scores{Stuck: 20, StuckFast: 19}, "stuck-found", met, "95 % of 20"},
		"stuck ones late":             {reconcile.Scores{Stuck: 3, StuckFast: 2}, "stuck-found", missed, "66.6 % of 3"},
		"nobody stuck":                {reconcile.Scores{}, "stuck-found", unknown, "nothing to measure"},
		"5 % inactive":                {reconcile.Scores{Ended: ended(20), Inactive: 1}, "inactivity", met, "5 % of 20"},
		"a hair more":                 {reconcile.Scores{Ended: ended(99_999), Inactive: 5000}, "inactivity", missed, "5.1 % of 99999"},
		"none inactive":               {reconcile.Scores{Ended: ended(20)}, "inactivity", met, "0 % of 20"},
		"no task ended":               {reconcile.Scores{Inactive: 3}, "inactivity", unknown, "nothing to measure"},
		"recreated":                   {reconcile.Scores{Recreated: 20, Back: 19}, "recreations", met, "95 % of 20"},
		"recreated in vain":           {reconcile.Scores{Recreated: 20, Back: 18}, "recreations", missed, "90 % of 20"},
		"none recreated":              {reconcile.Scores{}, "recreations", unknown, "nothing to measure"},
		"resumed":                     {reconcile.Scores{Resumed: 10, Worked: 9}, "resumes", met, "90 % of 10"},
		"resumed in vain":             {reconcile.Scores{Resumed: 10, Worked: 8}, "resumes", missed, "80 % of 10"},
		"none resumed":                {reconcile.Scores{}, "resumes", unknown, "nothing to measure"},
		"no probe":                    {reconcile.Scores{Before: 100}, "probes", unknown, "no probe was made"},
		"no baseline":                 {reconcile.Scores{Probes: 50, ProbesFailed: 1}, "probes", unknown, "2 % of 50, and no baseline yet"},
		"twice a large baseline":      {reconcile.Scores{Probes: 100, ProbesFailed: 20, Before: 100, BeforeFailed: 10}, "probes", met, "20 % of 100"},
		"more than twice it":          {reconcile.Scores{Probes: 100, ProbesFailed: 21, Before: 100, BeforeFailed: 10}, "probes", missed, "21 % of 100"},
		"2 points over a tiny one":    {reconcile.Scores{Probes: 100, ProbesFailed: 2, Before: 100}, "probes", met, "2 % of 100"},
		"more than 2 points over it":  {reconcile.Scores{Probes: 100, ProbesFailed: 3, Before: 100}, "probes", missed, "3 % of 100"},
		"2 points over, and 3 times":  {reconcile.Scores{Probes: 100, ProbesFailed: 3, Before: 100, BeforeFailed: 1}, "probes", met, "3 % of 100"},
		"3 points over, and 4 times":  {reconcile.Scores{Probes: 100, ProbesFailed: 4, Before: 100, BeforeFailed: 1}, "probes", missed, "4 % of 100"},
		"9 points over, not twice":    {reconcile.Scores{Probes: 100, ProbesFailed: 19, Before: 100, BeforeFailed: 10}, "probes", met, "19 % of 100"},
		"4 active at rest":            {reconcile.Scores{Active: 4}, "at-rest", met, "4"},
		"5 active at rest":            {reconcile.Scores{Active: 5}, "at-rest", missed, "5"},
		"tasks live":                  {reconcile.Scores{Active: 9, Live: 1}, "at-rest", unknown, "not at rest: 1 live"},
		"sandboxes not counted":       {reconcile.Scores{Active: -1}, "at-rest", unknown, "the newest full pass did not count them"},
		"tasks not counted":           {reconcile.Scores{Active: 9, Live: -1}, "at-rest", unknown, "the newest full pass did not count them"},
		"no work after a stop":        {reconcile.Scores{Ended: ended(2)}, "work-after-stop", met, "0"},
		"work after a stop":           {reconcile.Scores{Ended: ended(2), WorkAfterStop: 1}, "work-after-stop", missed, "1"},
		"work after a stop of before": {reconcile.Scores{WorkAfterStop: 1}, "work-after-stop", missed, "1"},
		"nobody stopped a task":       {reconcile.Scores{Ended: map[string]int{"completed": 4}}, "work-after-stop", unknown, "no task was stopped"},
		"stops that took a time": {reconcile.Scores{StopGone: reconcile.Quantiles{Count: 4, P50: 3210 * time.Millisecond, P95: 42 * time.Second}},
			"stop-to-gone", met, "half of 4 within 3s, 95 % within 42s"},
		"no such stop":     {reconcile.Scores{}, "stop-to-gone", unknown, "nothing to measure"},
		"no such deadline": {reconcile.Scores{}, "deadline-to-gone", unknown, "nothing to measure"},
	} {
		t.Run(name, func(t *testing.T) {
			got := targetNamed(t, Targets(&c.scores, targetsPolicy()), c.target)
			stands := unknown
			switch {
			case got.Measured && got.Met:
				stands = met
			case got.Measured:
				stands = missed
			case got.Met:
				stands = "met without being measured"
			}
			if stands != c.want || got.Value != c.value {
				t.Errorf("%s is %s at %q, want %s at %q", c.target, stands, got.Value, c.want, c.value)
			}
		})
	}
}

func targetNamed(t *testing.T, all []Target, name string) Target {
	t.Helper()
	for _, one := range all {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no target %s in %v", name, all)
	return Target{}
}

// TestTargetsAreNamed: each once, each with words, and none that the house did not set.
func TestTargetsAreNamed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, one := range Targets(&reconcile.Scores{}, targetsPolicy()) {
		if seen[one.Name] || one.Text == "" || one.Value == "" {
			t.Errorf("target %+v: named twice, or without words", one)
		}
		seen[one.Name] = true
	}
	for _, one := range Targets(&reconcile.Scores{}, &reconcile.Policy{}) {
		if one.Name == "at-rest" {
			t.Error("there is a target for sandboxes at rest although the house has no norm")
		}
	}
}
