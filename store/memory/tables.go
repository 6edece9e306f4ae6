package memory

import (
	"context"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// A gate lets one caller in at a time, and tells the time that counts inside.
type gate struct {
	clock func() time.Time
	mu    sync.Mutex
}

// now is the clock, as fine as the database would keep it.
func (g *gate) now() time.Time { return g.clock().UTC().Truncate(time.Microsecond) }

// locked runs do alone. A canceled caller changes nothing, as with a database.
func (g *gate) locked(ctx context.Context, do func(now time.Time) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do(g.now())
}

// tables are all that the ledger holds. Who uses them is inside the door.
type tables struct {
	lease reconcile.Lease
	passTable
	worldTable
	findingTable
	actionTable
	verdictTable
	incidentTable
	noticeTable
	requestTable
	journal
}

type passTable struct {
	passes   []reconcile.PassSeen // by number, which is never given twice
	lastPass int64
}

// A worldTable is what passes have seen outside.
type worldTable struct {
	watchSince time.Time
	known      []string
	tasks      map[string]task
	sandboxes  map[reconcile.Ref]reconcile.SandboxSeen
	probes     []reconcile.ProbeResult
	sums       map[reconcile.Ref]reconcile.ProbeSeen
	minutes    map[string]protocol.Minute
	templates  map[reconcile.Ref]reconcile.TemplateSeen
	sources    map[string]reconcile.SourceSeen
	canaries   []reconcile.Canary
}

type findingTable struct {
	findings []*reconcile.FindingSeen // in the order of opening
	open     map[reconcile.FindingKey]*reconcile.FindingSeen
}

type actionTable struct {
	actions map[string]action
}

type verdictTable struct {
	verdicts []reconcile.Verdict // by number
	numbered int64               // the last verdict's
	armed    map[string]int64    // the newest verdict before the rule was armed last
}

type incidentTable struct {
	incidents map[string]reconcile.Incident
}

type noticeTable struct {
	notices map[string]notice
}

// A requestTable is what operators want, and what the janitor wants of them.
type requestTable struct {
	modes       map[string]reconcile.Mode
	lowered     map[string]reconcile.Lowering
	pauses      []reconcile.Pause
	holds       []reconcile.Hold
	releases    []reconcile.Release
	lastRequest int64
	breakers    map[string]reconcile.Breaker
	proofs      []reconcile.Proof
	learned     []reconcile.Learned
	arms        map[string]reconcile.Arm
	grace       map[string]time.Time
}

// A journal counts and tells what happened.
type journal struct {
	timeline []reconcile.TimelineEvent
	counters map[counter]int64
	hours    map[hourSum]int64
}

type counter struct{ name, rule, provider, what string }

type hourSum struct {
	hour       time.Time
	name, what string
}

func newTables() tables {
	return tables{
		worldTable: worldTable{
			tasks: map[string]task{}, sandboxes: map[reconcile.Ref]reconcile.SandboxSeen{},
			sums: map[reconcile.Ref]reconcile.ProbeSeen{}, minutes: map[string]protocol.Minute{},
			templates: map[reconcile.Ref]reconcile.TemplateSeen{}, sources: map[string]reconcile.SourceSeen{},
		},
		findingTable:  findingTable{open: map[reconcile.FindingKey]*reconcile.FindingSeen{}},
		actionTable:   actionTable{actions: map[string]action{}},
		verdictTable:  verdictTable{armed: map[string]int64{}},
		incidentTable: incidentTable{incidents: map[string]reconcile.Incident{}},
		noticeTable:   noticeTable{notices: map[string]notice{}},
		requestTable: requestTable{modes: map[string]reconcile.Mode{}, lowered: map[string]reconcile.Lowering{},
			breakers: map[string]reconcile.Breaker{}, arms: map[string]reconcile.Arm{}, grace: map[string]time.Time{}},
		journal: journal{counters: map[counter]int64{}, hours: map[hourSum]int64{}},
	}
}

func (g *journal) count(name, rule, provider, what string) {
	g.counters[counter{name, rule, provider, what}]++
}

// countHourly is count, kept by the hour as well.
func (g *journal) countHourly(c reconcile.Counter, now time.Time) {
	g.counters[counter{c.Name, c.Rule, c.Provider, c.What}] += c.Value
	g.hours[hourSum{protocol.HourOf(now), c.Name, c.What}] += c.Value
}

func (g *journal) tell(events ...reconcile.TimelineEvent) {
	g.timeline = append(g.timeline, events...)
}
