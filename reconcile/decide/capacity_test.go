package decide

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// reported are the findings of one rule that are no subject's: "due SUBJECT: REASON".
func reported(j *Judgement, rule string) []string {
	var out []string
	for _, f := range j.Reports {
		if f.Rule == rule {
			out = append(out, map[bool]string{true: "due ", false: "seen "}[f.Due]+f.Subject+": "+f.Reason)
		}
	}
	return out
}

func TestCapacity(t *testing.T) {
	const boxes20, boxes50 = "box daytona/s{01..20} running; ", "box daytona/s{01..50} running; "
	const over = "finding capacity capacity:all/escalate first="
	for name, test := range map[string]struct {
		world string
		want  []string // in the words, in order
	}{
		"as many as are critical": {boxes20, nil},
		"one more": {boxes20 + "box daytona/s21 creating", []string{
			"due capacity:all: 21 sandboxes are active, more than 20 are critical"}},
		"one more that is stopped":     {boxes20 + "box daytona/s21 stopped", nil},
		"one more that is suspended":   {boxes20 + "box daytona/s21 suspended", nil},
		"one more that is not ours":    {boxes20 + "box daytona/s21 running owned=no", nil},
		"one more that is being ended": {boxes20 + "box daytona/s21 deleting", nil},
		"as many as are escalated":     {boxes50, []string{"due capacity:all: "}},
		"one more, for the first time": {boxes50 + "box daytona/s51 running", []string{"due capacity:all: ",
			"seen capacity:all/escalate: 51 sandboxes are active, more than 50 for 0s, escalated after 30m"}},
		"for a second less than escalates": {boxes50 + "box daytona/s51 running; " + over + "29m59s",
			[]string{"due capacity:all: ", "seen capacity:all/escalate: "}},
		"for as long as escalates": {boxes50 + "box daytona/s51 running; " + over + "30m",
			[]string{"due capacity:all: ", "due capacity:all/escalate: 51 sandboxes are active, more than 50 for 30m"}},
		"for as long, but nobody watched": {boxes50 + "box daytona/s51 running; watched since=29m; " + over + "30m",
			[]string{"due capacity:all: ", "seen capacity:all/escalate: "}},
		"off":             {boxes20 + "box daytona/s21 running; rule capacity mode=off", nil},
		"in a quick pass": {"pass quick; " + boxes20 + "box daytona/s21 running", nil},
		"the listing failed, and the ledger knew more": {
			"listing daytona failed=503; knew box daytona/s{01..21} running", []string{"due capacity:all: 21 "}},
		"the listing failed, and the ledger knew some that are gone": {
			"listing daytona failed=503; knew box daytona/s{01..20} running; knew box daytona/s21 running gone=1m", nil},
		"a quota at the limit": {"quota daytona cpu used=80", nil},
		"a quota above it": {"quota daytona cpu used=81; quota daytona memory used=100", []string{
			"due capacity:daytona/cpu: cpu at daytona: 81 of 100 are used, 81 %, more than 80 %",
			"due capacity:daytona/memory: memory at daytona: 100 of 100"}},
		"a quota without a limit": {"quota daytona cpu used=81 limit=0", nil},
	} {
		got := reported(JudgeWorld(worldtest.NewWorld(t, "rule orphan mode=off", test.world)), "capacity")
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestCapacityResolves: a finding is over when it was measured again, and not because it
// could not be.
func TestCapacityResolves(t *testing.T) {
	const open = "finding capacity capacity:all/escalate; finding capacity capacity:daytona/cpu provider=daytona; "
	for name, test := range map[string]struct {
		world string
		want  string
	}{
		"fewer, and the quota is free":    {"quota daytona cpu used=80", "capacity:all/escalate capacity:daytona/cpu"},
		"the quota could not be measured": {"", "capacity:all/escalate"},
		"the provider has no such quota":  {"quota daytona", "capacity:all/escalate capacity:daytona/cpu"},
		"a quick pass measures nothing":   {"pass quick; source listing:daytona trusted", ""},
		"the quota is still full":         {"quota daytona cpu used=90", "capacity:all/escalate"},
		"of a provider that left the config": {"finding capacity capacity:gone/cpu provider=gone; quota daytona cpu used=90",
			"capacity:all/escalate capacity:gone/cpu"},
	} {
		var got []string
		for _, key := range JudgeWorld(worldtest.NewWorld(t, open+test.world)).Resolved {
			got = append(got, key.Subject)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: resolved %q, want %q", name, got, test.want)
		}
	}
}

// begun counts the steps that are done now, by rule.
func begun(p *Plan) map[string]int {
	n := map[string]int{}
	for i := range p.Steps {
		if len(p.Steps[i].HeldBy) == 0 {
			n[p.Steps[i].Rule]++
		}
	}
	return n
}

// TestMakeRoom: while a quota is nearly used up, what is cleaned up anyway goes first and free
// of share, within per_pass and per_hour.
func TestMakeRoom(t *testing.T) {
	full := "quota daytona cpu used=90; "
	for name, test := range map[string]struct {
		world   string
		off     bool
		orphans int // terminated now
	}{
		"a quota is full":               {world: full, orphans: 8},
		"none is":                       {world: "quota daytona cpu used=80; ", orphans: 3},
		"without the opt-in":            {world: full, off: true, orphans: 3},
		"the rule only observes":        {world: full + "rule capacity mode=observe; ", orphans: 3},
		"the rule is off":               {world: full + "rule capacity mode=off; ", orphans: 3},
		"one that sandboxes do not use": {world: "quota daytona snapshots used=90; ", orphans: 3},
		"of another provider": {
			world: "provider e2b; quota e2b cpu used=90; quota daytona cpu used=9; ", orphans: 3},
		"it could not be measured, and was full before": {
			world: "finding capacity capacity:daytona/cpu provider=daytona; ", orphans: 8},
		"it was full before": {
			world: "finding capacity capacity:daytona/cpu provider=daytona; quota daytona cpu used=80; ", orphans: 3},
		"little is left of the hour": {world: full + "spent 195; ", orphans: 5},
		"the hour is over":           {world: full + "spent 200; ", orphans: 0},
		"orphans are paused":         {world: full + "pause rule:orphan; ", orphans: 0},
	} {
		w := worldtest.Roomy(t, "limits per_pass=8 breaker=100; box daytona/o{01..30} running created=2h; "+
			"finding orphan sandbox:daytona/o{01..30} sightings=2 sighted=2m first=2m; "+test.world)
		if test.off {
			w.Room(false)
		}
		_, p := PlanWorld(w)
		if done := begun(p)["orphan"]; done != test.orphans {
			t.Errorf("%s: %d orphans end, want %d", name, done, test.orphans)
		}
	}
}

// TestMakeRoomLeavesShare: clean-up that makes room uses up per_pass, and of share nothing,
// so that the others get what they would get without it.
func TestMakeRoomLeavesShare(t *testing.T) {
	const world = "limits per_pass=20 breaker=100; box daytona/o{01..05} running created=2h; " +
		"finding orphan sandbox:daytona/o{01..05} sightings=2 sighted=2m first=2m; " +
		"box daytona/e{01..25} failed updated=1h; row e{01..25} completed; quota daytona cpu used=90; rule orphan mode="
	count := func(mode string) (errored, orphans int) {
		w := worldtest.Roomy(t, world+mode)
		for i := range w.S.Sandboxes {
			if id := w.S.Sandboxes[i].ID; id[0] == 'e' {
				w.S.Sandboxes[i].Task = id
			}
		}
		_, p := PlanWorld(w)
		return begun(p)["errored"], begun(p)["orphan"]
	}
	alone, _ := count("off")
	beside, orphans := count("enforce")
	if alone != 3 || beside != alone || orphans != 5 {
		t.Errorf("beside %d orphans %d errored ones end, and %d without them; want 5, 3 and 3", orphans, beside, alone)
	}
}

// TestMakeRoomBreaks: the breaker counts what makes room like anything else.
func TestMakeRoomBreaks(t *testing.T) {
	w := worldtest.Roomy(t, "box daytona/o{01..30} running created=2h; "+
		"finding orphan sandbox:daytona/o{01..30} sightings=2 sighted=2m first=2m; quota daytona cpu used=90")
	_, p := PlanWorld(w)
	for _, s := range p.Steps {
		if len(s.HeldBy) == 0 {
			t.Fatalf("%s of %s is done although the breaker is due to open", s.Step, s.Sandbox)
		}
	}
	if len(p.Breakers) != 1 {
		t.Errorf("breakers %v, want that of orphan", p.Breakers)
	}
}

// TestMakeRoomKeepsTheLimits: whatever is due, whatever is full: per_pass and per_hour hold
// everything, share holds all but clean-up at the full provider, and without a full quota the
// opt-in changes nothing.
func TestMakeRoomKeepsTheLimits(t *testing.T) {
	lifted := 0
	for _, seed := range seeds(t, 300) {
		r := rand.New(rand.NewPCG(seed, 3))
		per := []int{1, 5, 20}[r.IntN(3)]
		hour := []int{0, 3, 200}[r.IntN(3)]
		used := []int{50, 80, 81, 100}[r.IntN(4)]
		text := fmt.Sprintf("provider e2b; limits per_pass=%d per_hour=200 share=%d breaker=100; spent %d; quota daytona cpu used=%d; ",
			per, []int{1, 10, 100}[r.IntN(3)], 200-hour, used)
		for i := range r.IntN(40) {
			provider := []string{"daytona", "e2b"}[r.IntN(2)]
			text += []string{
				fmt.Sprintf("box %[1]s/o%[2]d running created=2h; finding orphan sandbox:%[1]s/o%[2]d sightings=2 sighted=2m; ", provider, i),
				fmt.Sprintf("box %[1]s/l%[2]d running task=l%[2]d; row l%[2]d completed updated=2h; ", provider, i),
				fmt.Sprintf("box %[1]s/e%[2]d failed updated=1h task=e%[2]d; row e%[2]d completed updated=1s; ", provider, i),
				fmt.Sprintf("task t%[2]d running started=2h ev.heartbeat=2h; box %[1]s/t%[2]d failed task=t%[2]d updated=1h; ", provider, i),
			}[r.IntN(4)]
		}
		w := worldtest.Roomy(t, text)
		j, p := PlanWorld(w)
		free, total, shared := 0, 0, 0
		for i := range p.Steps {
			s := &p.Steps[i]
			switch room := used > 80 && reconcile.RuleNamed(s.Rule).MakesRoom && s.Provider == "daytona"; {
			case len(s.HeldBy) > 0 || s.Seq > 0:
			case room:
				free++
				total++
			default:
				total++
				if !s.RowOnly {
					shared++
				}
			}
		}
		lifted += free
		if share := max(1, int(w.P.Limits.Share*float64(j.Fleet)+1e-9)); total > per || total > hour || shared > min(share, per) {
			t.Fatalf("seed %d: %d remedies begin, %d of them by share, %d free of it; per_pass %d, left of the hour %d, share %d\n%s",
				seed, total, shared, free, per, hour, share, text)
		}
		if used <= 80 {
			got := bytesOf(t, w)
			w.Room(false)
			if want := bytesOf(t, w); got != want {
				t.Fatalf("seed %d: without a full quota the opt-in changes the plan\n%s", seed, text)
			}
		}
	}
	if lifted == 0 {
		t.Error("no random world makes room: the properties say nothing of it")
	}
}
