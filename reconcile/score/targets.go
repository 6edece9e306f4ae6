// Package score holds what was measured against what it should be. It is pure.
package score

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// scores are what was measured.
type scores struct{ *reconcile.Scores }

// A Target is a number that operators hold themselves to, and how it stands. What was not
// measured is neither met nor missed.
type Target struct {
	Name     string // one spelling for people and programs: "terminations-confirmed"
	Text     string // what is measured: "terminations that were confirmed"
	Value    string // how it stands: "97.5 % of 40"; why there is none, when it was not measured
	Aim      string // how it should stand: "at least 95 %"; "" for one that is only told
	Met      bool
	Measured bool
}

// What the targets are, in percent where nothing else is said.
const (
	aimMost     = 95 // of what has to succeed
	aimWorked   = 90 // of resumed sandboxes
	aimInactive = 5  // of ended tasks, at most
	aimProbes   = 2  // points by which failed probes may pass their baseline, whatever that is
)

// Targets compares the scores with what they should be. The policy says what is normal in
// this house.
func Targets(of *reconcile.Scores, p *reconcile.Policy) []Target {
	s := &scores{of}
	return slices.Concat(s.endings(), s.stops(p), s.tasks(), s.recoveries(), s.worlds(p))
}

// endings are about sandboxes that were ended.
func (s *scores) endings() []Target {
	return []Target{
		share{s.Confirmed, s.Asked}.atLeast(aimMost, Target{
			Name: "terminations-confirmed", Text: "terminations that were confirmed"}),
		share{s.GoneFast, s.Gone}.atLeast(aimMost, Target{
			Name: "terminations-fast", Text: "sandboxes gone within 30s of the first request"}),
	}
}

// stops are about tasks that a person or a deadline ended.
func (s *scores) stops(p *reconcile.Policy) []Target {
	rule := p.Rules["stop-ignored"]
	return []Target{
		share{s.StopsFast, s.Stops}.atLeast(aimMost, Target{
			Name: "stop-response", Text: "ignored stops acted on within 5s" + waits(rule.After, p.Quick)}),
		told(s.StopGone, Target{Name: "stop-to-gone", Text: "time from a stop to its sandbox being gone"}),
		told(s.DeadlineGone, Target{Name: "deadline-to-gone", Text: "time from a deadline to its sandbox being gone"}),
		s.afterStop(),
	}
}

// waits are why a stop cannot be acted on sooner: both are the config's.
func waits(after, quick time.Duration) string {
	if after <= 0 || quick <= 0 {
		return ""
	}
	return fmt.Sprintf(" (the rule waits %s, a quick pass comes every %s)", text.Duration(after), text.Duration(quick))
}

// afterStop counts work that went on after its stop. Without any stop there is nothing that
// could have been seen.
func (s *scores) afterStop() Target {
	t := Target{Name: "work-after-stop", Text: "looks that found new work of a stopped task", Aim: "none"}
	if s.Ended["stopped"] == 0 && s.WorkAfterStop == 0 {
		t.Value = "no task was stopped"
		return t
	}
	t.Measured, t.Met, t.Value = true, s.WorkAfterStop == 0, fmt.Sprint(s.WorkAfterStop)
	return t
}

// tasks are about workers that stop working.
func (s *scores) tasks() []Target {
	ended := 0
	for _, n := range s.Ended {
		ended += n
	}
	return []Target{
		share{s.StuckFast, s.Stuck}.atLeast(aimMost, Target{
			Name: "stuck-found", Text: "stuck workers found within 60s of their threshold"}),
		share{s.Inactive, ended}.atMost(aimInactive, Target{
			Name: "inactivity", Text: "ended tasks whose worker had become inactive"}),
	}
}

// recoveries are about what was replaced or woken up.
func (s *scores) recoveries() []Target {
	return []Target{
		share{s.Back, s.Recreated}.atLeast(aimMost, Target{
			Name: "recreations", Text: "recreated sandboxes whose worker came back"}),
		share{s.Worked, s.Resumed}.atLeast(aimWorked, Target{
			Name: "resumes", Text: "resumed sandboxes that worked"}),
	}
}

// worlds are about the fleet.
func (s *scores) worlds(p *reconcile.Policy) []Target {
	all := []Target{s.probing()}
	if norm := p.Rules["capacity"].AtRest; norm > 0 {
		all = append(all, s.quarantined(norm))
	}
	return all
}

// probing holds the failed probes against those of the time before: a fleet has its own
// normal. A few points more of a tiny rate are noise, and twice a large one is not.
func (s *scores) probing() Target {
	t := Target{Name: "probes", Text: "probes that failed", Aim: "at most twice their baseline"}
	now, before := share{s.ProbesFailed, s.Probes}, share{s.BeforeFailed, s.Before}
	switch {
	case s.Probes == 0:
		t.Value = "no probe was made"
	case s.Before == 0:
		t.Value = fmt.Sprintf("%s, and no baseline yet", now.words(false))
	default:
		t.Measured = true
		t.Value = now.words(false)
		t.Aim = fmt.Sprintf("at most twice the baseline of %s, or %d points above it", before.percent(false), aimProbes)
		t.Met = !now.over(2, before, 0) || !now.over(1, before, aimProbes)
	}
	return t
}

// quarantined counts what runs while nothing has to.
func (s *scores) quarantined(norm int) Target {
	t := Target{Name: "at-rest", Text: "active sandboxes while no task lives", Aim: fmt.Sprintf("below %d", norm)}
	switch {
	case s.Active < 0 || s.Live < 0:
		t.Value = "the newest full pass did not count them"
	case s.Live > 0:
		t.Value = fmt.Sprintf("not at rest: %d live", s.Live)
	default:
		t.Measured, t.Met, t.Value = true, s.Active < norm, fmt.Sprint(s.Active)
	}
	return t
}

// A share is a part of a whole. Of nothing it is not measured.
type share struct{ part, of int }

func (s share) atLeast(percent int, t Target) Target {
	t.Aim = fmt.Sprintf("at least %d %%", percent)
	return s.judged(t, s.part*100 >= s.of*percent, false)
}

func (s share) atMost(percent int, t Target) Target {
	t.Aim = fmt.Sprintf("at most %d %%", percent)
	return s.judged(t, s.part*100 <= s.of*percent, true)
}

func (s share) judged(t Target, met, up bool) Target {
	if s.of <= 0 {
		t.Value = "nothing to measure"
		return t
	}
	t.Measured, t.Met, t.Value = true, met, s.words(up)
	return t
}

func (s share) words(up bool) string { return fmt.Sprintf("%s of %d", s.percent(up), s.of) }

// percent is rounded away from the target, so that a missed one never reads as if it was met.
func (s share) percent(up bool) string {
	tenths := s.part * 1000 / s.of
	if up && s.part*1000%s.of > 0 {
		tenths++
	}
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + " %"
}

// over reports whether the share is larger than times another one and some points.
func (s share) over(times int, other share, points int) bool {
	return s.part*other.of*100 > (times*other.part*100+points*other.of)*s.of
}

// told is a measured time that has no target of its own.
func told(q reconcile.Quantiles, t Target) Target {
	if q.Count == 0 {
		t.Value = "nothing to measure"
		return t
	}
	t.Measured, t.Met = true, true
	t.Value = fmt.Sprintf("half of %d within %s, 95 %% within %s", q.Count, text.Duration(q.P50), text.Duration(q.P95))
	return t
}
