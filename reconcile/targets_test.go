package reconcile

import (
	"testing"
	"time"
)

func targetsPolicy() *Policy {
	return &Policy{Quick: 15 * time.Second, Rules: map[string]RulePolicy{
		"stop-ignored": {After: 5 * time.Second}, "capacity": {AtRest: 5},
	}}
}

// TestTargets: both sides of each aim, and nothing is made of what was not measured.
func TestTargets(t *testing.T) {
	t.Parallel()
	ended := func(n int) map[string]int { return map[string]int{"completed": n - 1, "stopped": 1} }
	const missed, met, unknown = "missed", "met", "not measured"
	for name, c := range map[string]struct {
		scores Scores
		target string
		want   string
		value  string
	}{
		"no terminate":                {Scores{}, "terminations-confirmed", unknown, "nothing to measure"},
		"38 of 40 confirmed":          {Scores{Asked: 40, Confirmed: 38}, "terminations-confirmed", met, "95 % of 40"},
		"37 of 39 confirmed":          {Scores{Asked: 39, Confirmed: 37}, "terminations-confirmed", missed, "94.8 % of 39"},
		"a hair below 95 %":           {Scores{Asked: 100_000, Confirmed: 94_999}, "terminations-confirmed", missed, "94.9 % of 100000"},
		"none of one":                 {Scores{Asked: 1}, "terminations-confirmed", missed, "0 % of 1"},
		"all gone fast":               {Scores{Gone: 7, GoneFast: 7}, "terminations-fast", met, "100 % of 7"},
		"one of 19 slow":              {Scores{Gone: 19, GoneFast: 18}, "terminations-fast", missed, "94.7 % of 19"},
		"one of 20 slow":              {Scores{Gone: 20, GoneFast: 19}, "terminations-fast", met, "95 % of 20"},
		"none gone":                   {Scores{}, "terminations-fast", unknown, "nothing to measure"},
		"no stop":                     {Scores{}, "stop-response", unknown, "nothing to measure"},
		"stops in time":               {Scores{Stops: 20, StopsFast: 19}, "stop-response", met, "95 % of 20"},
		"stops too late":              {Scores{Stops: 20, StopsFast: 18}, "stop-response", missed, "90 % of 20"},
		"stuck ones in time":          {Scores{Stuck: 20, StuckFast: 19}, "stuck-found", met, "95 % of 20"},
		"stuck ones late":             {Scores{Stuck: 3, StuckFast: 2}, "stuck-found", missed, "66.6 % of 3"},
		"nobody stuck":                {Scores{}, "stuck-found", unknown, "nothing to measure"},
		"5 % inactive":                {Scores{Ended: ended(20), Inactive: 1}, "inactivity", met, "5 % of 20"},
		"a hair more":                 {Scores{Ended: ended(99_999), Inactive: 5000}, "inactivity", missed, "5.1 % of 99999"},
		"none inactive":               {Scores{Ended: ended(20)}, "inactivity", met, "0 % of 20"},
		"no task ended":               {Scores{Inactive: 3}, "inactivity", unknown, "nothing to measure"},
		"recreated":                   {Scores{Recreated: 20, Back: 19}, "recreations", met, "95 % of 20"},
		"recreated in vain":           {Scores{Recreated: 20, Back: 18}, "recreations", missed, "90 % of 20"},
		"none recreated":              {Scores{}, "recreations", unknown, "nothing to measure"},
		"resumed":                     {Scores{Resumed: 10, Worked: 9}, "resumes", met, "90 % of 10"},
		"resumed in vain":             {Scores{Resumed: 10, Worked: 8}, "resumes", missed, "80 % of 10"},
		"none resumed":                {Scores{}, "resumes", unknown, "nothing to measure"},
		"no probe":                    {Scores{Before: 100}, "probes", unknown, "no probe was made"},
		"no baseline":                 {Scores{Probes: 50, ProbesFailed: 1}, "probes", unknown, "2 % of 50, and no baseline yet"},
		"twice a large baseline":      {Scores{Probes: 100, ProbesFailed: 20, Before: 100, BeforeFailed: 10}, "probes", met, "20 % of 100"},
		"more than twice it":          {Scores{Probes: 100, ProbesFailed: 21, Before: 100, BeforeFailed: 10}, "probes", missed, "21 % of 100"},
		"2 points over a tiny one":    {Scores{Probes: 100, ProbesFailed: 2, Before: 100}, "probes", met, "2 % of 100"},
		"more than 2 points over it":  {Scores{Probes: 100, ProbesFailed: 3, Before: 100}, "probes", missed, "3 % of 100"},
		"2 points over, and 3 times":  {Scores{Probes: 100, ProbesFailed: 3, Before: 100, BeforeFailed: 1}, "probes", met, "3 % of 100"},
		"3 points over, and 4 times":  {Scores{Probes: 100, ProbesFailed: 4, Before: 100, BeforeFailed: 1}, "probes", missed, "4 % of 100"},
		"9 points over, not twice":    {Scores{Probes: 100, ProbesFailed: 19, Before: 100, BeforeFailed: 10}, "probes", met, "19 % of 100"},
		"4 active at rest":            {Scores{Active: 4}, "at-rest", met, "4"},
		"5 active at rest":            {Scores{Active: 5}, "at-rest", missed, "5"},
		"tasks live":                  {Scores{Active: 9, Live: 1}, "at-rest", unknown, "not at rest: 1 live"},
		"sandboxes not counted":       {Scores{Active: -1}, "at-rest", unknown, "the newest full pass did not count them"},
		"tasks not counted":           {Scores{Active: 9, Live: -1}, "at-rest", unknown, "the newest full pass did not count them"},
		"no work after a stop":        {Scores{Ended: ended(2)}, "work-after-stop", met, "0"},
		"work after a stop":           {Scores{Ended: ended(2), WorkAfterStop: 1}, "work-after-stop", missed, "1"},
		"work after a stop of before": {Scores{WorkAfterStop: 1}, "work-after-stop", missed, "1"},
		"nobody stopped a task":       {Scores{Ended: map[string]int{"completed": 4}}, "work-after-stop", unknown, "no task was stopped"},
		"stops that took a time": {Scores{StopGone: Quantiles{Count: 4, P50: 3210 * time.Millisecond, P95: 42 * time.Second}},
			"stop-to-gone", met, "half of 4 within 3s, 95 % within 42s"},
		"no such stop":     {Scores{}, "stop-to-gone", unknown, "nothing to measure"},
		"no such deadline": {Scores{}, "deadline-to-gone", unknown, "nothing to measure"},
	} {
		t.Run(name, func(t *testing.T) {
			got := targetNamed(t, c.scores.Targets(targetsPolicy()), c.target)
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
	for _, one := range (&Scores{}).Targets(targetsPolicy()) {
		if seen[one.Name] || one.Text == "" || one.Value == "" {
			t.Errorf("target %+v: named twice, or without words", one)
		}
		seen[one.Name] = true
	}
	for _, one := range (&Scores{}).Targets(&Policy{}) {
		if one.Name == "at-rest" {
			t.Error("there is a target for sandboxes at rest although the house has no norm")
		}
	}
}
