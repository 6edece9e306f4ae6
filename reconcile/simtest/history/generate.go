package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Generate makes a history from a seed: a small world, ordinary life in it, and one or two
// themes of trouble, so that deep states are reached instead of everything at once.
func Generate(seed uint64) Script {
	d := &draw{dice: dice{rand.New(rand.NewPCG(seed, 0x70776e))}, out: Script{Seed: seed}}
	d.sieve = dice{rand.New(rand.NewPCG(seed, 0x51e5e))}
	d.small = dice{rand.New(rand.NewPCG(seed, 0x5ea11))}
	d.more = &draw{dice: dice{rand.New(rand.NewPCG(seed, 0x51e4))}}
	d.kind = d.one("omoios", "omoios", "full", "full", "full", "coding-agent", "coding-agent", "none")
	d.setup("kind %s", d.kind)
	d.providers()
	d.rules()
	d.processes()
	d.people()
	picked := d.themes()
	d.picked = picked
	d.real(picked)
	for _, name := range picked {
		themes[name](d)
	}
	d.out.About = []string{fmt.Sprintf("seed %d: %s, %s", seed, d.kind, strings.Join(picked, " and "))}
	d.later()
	slices.SortStableFunc(d.out.Events, func(a, b Event) int { return int(a.At - b.At) })
	d.out.Calm = d.lasts
	return d.out
}

// dice are what chance decides.
type dice struct{ *rand.Rand }

// A draw makes one history.
type draw struct {
	dice
	out    Script
	kind   string
	lasts  time.Duration // until the calm
	tasks  []string
	clouds []string
	picked []string // its themes
	once   bool     // its passes are made by a CronJob
	sieve  dice     // draws which processes read how, from another
	small  dice     // draws for which processes the fleet is small, from another
	more   *draw    // draws what real platforms do besides, from a stream of its own: older seeds stay what they were
}

// one is one of several words.
func (d dice) one(of ...string) string { return of[d.IntN(len(of))] }

// maybe is the text once in so many times, else "".
func (d dice) maybe(oneIn int, text string) string {
	if d.IntN(oneIn) > 0 {
		return ""
	}
	return text
}

// between is a whole number of seconds within two durations.
func (d dice) between(least, most time.Duration) time.Duration {
	return (least + time.Duration(d.Int64N(int64(most-least)+1))).Truncate(time.Second)
}

// span is a duration in the words of a script.
func (d dice) span(least, most time.Duration) string { return d.between(least, most).String() }

func (d *draw) setup(format string, args ...any) {
	words := strings.Fields(fmt.Sprintf(format, args...))
	d.out.Setup = append(d.out.Setup, Event{Verb: words[0], Args: words[1:]})
}

// at puts an event at a moment.
func (d *draw) at(at time.Duration, format string, args ...any) {
	words := strings.Fields(fmt.Sprintf(format, args...))
	d.out.Events = append(d.out.Events, Event{At: at.Truncate(time.Second), Verb: words[0], Args: words[1:]})
}

// soon is a moment in the first part of the history, sometime one in all of it.
func (d *draw) soon() time.Duration { return d.between(30*time.Second, d.lasts*2/3) }

func (d *draw) sometime() time.Duration { return d.between(30*time.Second, d.lasts-time.Minute) }

// task is one of those there are.
func (d *draw) task() string { return d.one(d.tasks...) }

func (d *draw) cloud() string { return d.one(d.clouds...) }

func (d *draw) providers() {
	d.clouds = []string{"lab"}
	if d.IntN(3) == 0 {
		d.clouds = append(d.clouds, "annex")
	}
	ends := dice{rand.New(rand.NewPCG(d.out.Seed, 0xe4d5))}
	stores := map[bool]string{true: "stores=yes"}[d.out.Seed%2 == 1] // drawn by nothing: older seeds stay what they were
	for _, name := range d.clouds {
		d.setup("provider %s %s required=%s rests=%s exclusive=%s %s start=%s delete=%s %s %s %s", name, stores,
			d.more.one("yes", "yes", "no"), d.more.one("no", "no", "yes"), d.one("no", "yes"), d.ties(),
			d.one("5s", "20s", "1m"),
			d.one("1s", "20s", "20s", "1m", "4m"), d.maybe(6, "lag="+d.one("10s", "45s")),
			d.maybe(3, "page="+d.one("2", "3", "5")), ends.maybe(2, "ends=yes"))
		if d.IntN(4) == 0 {
			d.setup("probe %s every=%s budget=%s", name, d.one("2m", "5m"), d.one("3", "50"))
		}
		d.setup("probe %s worker=%s", name, d.more.one(WorkerCommand, WorkerCommand, WorkerCommand, WrongCommand, "none"))
	}
}

// rules are the settings that differ from the defaults.
func (d *draw) rules() {
	d.setup("limits per_pass=%s share=%s breaker=%s per_hour=%s", d.one("2", "5", "20"), d.one("10", "34", "100"),
		d.one("30", "50", "100"), d.one("20", "40", "200", "200"))
	for range d.IntN(4) {
		d.setup("rule %s", d.one(
			"assigned-stale remedy=requeue", "heartbeat-lost remedy=requeue", "sandbox-missing remedy=requeue",
			"orphan remedy=quarantine", "finished-lingering remedy=quarantine", "errored remedy=quarantine",
			"over-age mode=enforce after=50m", "runaway mode=enforce after=4m", "idle-broken remedy=terminate",
			"provisioning-stuck remedy=requeue", "template-unusable remedy=activate", "assigned-stale after=6m",
			"heartbeat-lost after=3m", "orphan after=2m sightings=3", "finished-lingering after=3m", "inactive after=5m",
			"systemic count=3", "systemic mode=observe", "looping count=2", "deadline-exceeded after=30m",
			"terminating-stuck remedy=terminate", "pending-stuck after=5m", "capacity critical=5",
			"duplicate mode=observe", "stop-ignored mode=observe", "orphan rollout=50", "idle-broken rollout=50"))
	}
	if d.IntN(3) > 0 {
		d.setup("rule systemic count=%s", d.one("20", "50"))
	}
}

// processes are who makes the passes. Those of every other process keep only the rows that are not plain,
// and the quick ones of some of the rest list everything as well.
func (d *draw) processes() {
	const sieved, small = " sieved 1", " small 20"
	passes := 40 + d.IntN(60)
	switch d.IntN(3) {
	case 0:
		d.once = true
		d.setup("process once every 2m first %s wait %s", d.one("5s", "10s"), d.one("5s", "10s", "30s"))
		d.lasts = time.Duration(passes) * 2 * time.Minute * 2 / 3
	case 1:
		d.setup("process replica-1 quick 30s full 2m first 5s lanes %s%s%s", d.one("1", "2"), d.sieve.maybe(2, sieved),
			d.small.maybe(2, small))
		d.lasts = time.Duration(passes) * 30 * time.Second
	default:
		d.setup("process replica-1 quick 30s full 2m first 5s lanes 1%s%s", d.sieve.maybe(2, sieved),
			d.small.maybe(2, small))
		d.setup("process replica-2 quick 30s full 2m first %s lanes 1%s%s", d.one("6s", "17s"), d.sieve.maybe(2, sieved),
			d.small.maybe(2, small))
		d.lasts = time.Duration(passes) * 30 * time.Second
	}
	if d.IntN(3) == 0 {
		d.setup("process look every %s first 1m", d.one("5m", "11m"))
	}
}

// people are the tasks that there are, and ordinary life.
func (d *draw) people() {
	d.setup("template spare %s", d.one("active", "active", "expiring"))
	for i := range 3 + d.IntN(6) {
		id := fmt.Sprintf("t%d", i+1)
		d.tasks = append(d.tasks, id)
		d.setup("task %s %s age=%s %s", id, d.one("running", "running", "running", "running", "completed", "failed"),
			d.span(time.Minute, 2*time.Hour), d.habits(3))
	}
	for range 2 + d.IntN(4) {
		id := fmt.Sprintf("t%d", len(d.tasks)+1)
		d.tasks = append(d.tasks, id)
		d.at(d.soon(), "task %s new %s", id, d.habits(2))
	}
}

// habits are how a task goes; it ends once in so many times.
func (d *draw) habits(oneIn int) string {
	words := []string{"act=" + d.one("20s", "40s", "1m40s"), "boot=" + d.one("2s", "10s", "40s"),
		d.maybe(4, "pick="+d.one("1s", "1m", "3m")), d.maybe(3, "row="+d.one("-3s", "-20s", "15s", "1m"))}
	if d.IntN(oneIn) == 0 {
		words = append(words, "work="+d.span(2*time.Minute, d.lasts), "end="+d.one("now", "now", "keep", "linger"),
			"record="+d.one("row", "row", "row", "late", "lost"), "keep="+d.span(2*time.Minute, 20*time.Minute))
	}
	if d.kind == "full" && len(d.clouds) > 1 || d.kind == "omoios" && d.IntN(3) == 0 {
		words = append(words, "provider="+d.cloud())
	}
	words = append(words, d.maybe(3, "retry="+d.span(10*time.Second, 10*time.Minute)),
		d.maybe(8, "timeout="+d.span(10*time.Minute, 3*time.Hour)), d.maybe(5, "template="+d.one("heavy", "spare")))
	return strings.Join(words, " ")
}

// themes draws what the history is about: mostly one source of trouble besides workers, and
// sometimes a second one.
func (d *draw) themes() []string {
	names := SortedKeys(themes)
	picked := []string{d.one(names...)}
	for range d.IntN(3) {
		if more := d.one(names...); !slices.Contains(picked, more) {
			picked = append(picked, more)
		}
	}
	return picked
}

// The commands that a config may ask for workers with: one that looks for what this platform runs,
// and one with a typing mistake, which finds nobody.
const (
	WorkerCommand = "pgrep-worker"
	WrongCommand  = "pgrep-wroker"
)
