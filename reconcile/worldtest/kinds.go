package worldtest

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// kinds are the lines that a world may have.
var kinds map[string]func(*entry)

func init() {
	kinds = map[string]func(*entry){
		"pass":     func(l *entry) { l.w.S.Kind = reconcile.PassKind(l.arg(0)) },
		"rule":     putRule,
		"limits":   putLimits,
		"provider": putProvider,
		"tasks":    putTasks,

		"clock":      putClock,
		"task":       func(l *entry) { l.w.S.Tasks = append(l.w.S.Tasks, l.task()) },
		"row":        putRow,
		"unread":     func(l *entry) { l.w.unread[l.arg(0)] = true },
		"unparsable": func(l *entry) { l.w.S.Unparsable[l.arg(0)] = true },

		"box":      func(l *entry) { l.w.S.Add(l.box()) },
		"stray":    func(l *entry) { l.w.S.Strays = append(l.w.S.Strays, l.box()) },
		"listing":  putListing,
		"explains": func(l *entry) { l.w.S.Explained[l.ref(1)] = l.arg(0) },
		"look":     putLook,
		"find":     putFind,
		"template": putTemplate,

		"knew":    putKnew,
		"finding": putFinding,
		"source":  putSource,
		"action":  putAction,
		"probe":   putProbe,
		"started": putStarted,
		"pause":   putPause,
		"hold":    putHold,
		"release": putRelease,
		"breaker": putBreaker,
		"mode":    func(l *entry) { l.w.S.Memory.Controls.Modes[l.arg(0)] = reconcile.Mode(l.arg(1)) },
		"spent":   func(l *entry) { l.w.S.Memory.Spent.Hour = number(l.w.T, l.arg(0)) },
		"watched": putWatched,
		"proof":   putProof,
		"canary":  putCanary,
		"arms":    putArms,
		"grace":   putGrace,
		"knows":   putKnows,
	}
}

// TestPolicy is the config's defaults, enforced.
func TestPolicy() reconcile.Policy {
	rules := map[string]reconcile.RulePolicy{}
	for i := range reconcile.Rules {
		r := reconcile.Rules[i].Settings("omoios", "")
		r.Mode, r.Named = reconcile.Enforce, true
		switch reconcile.Rules[i].Name {
		case "provisioning-stuck":
			r.After = 5 * time.Minute
		case "runaway":
			r.After = 10 * time.Minute
		case "capacity":
			r.Critical, r.Escalate = 20, 50
		}
		rules[reconcile.Rules[i].Name] = r
	}
	delete(rules, "systemic") // the tests that want it say so
	return reconcile.Policy{
		Installation: "test", Quick: 15 * time.Second, Full: 2 * time.Minute, Rules: rules,
		Limits: reconcile.Limits{PerPass: 20, Share: 0.1, Breaker: 0.3, PerHour: 200},
		// What a config has to say before it is acted on is said here; the tests of the defaults unsay it.
		Providers: map[string]reconcile.ProviderPolicy{"daytona": {Name: "daytona", Kind: "daytona", Exclusive: true,
			LinkTask:     true,
			LinkRequired: true, EndsAtRest: true,
			Probe: reconcile.ProbePolicy{Exec: "true", Path: "/", Every: 10 * time.Minute, Timeout: 5 * time.Second,
				Budget: 50}}},
		Tasks: reconcile.TasksPolicy{Events: true, Heartbeats: true, Requeue: true, HasUpdated: true, ErrorMapped: true,
			FailsRows: true, DeadlineFails: true},
	}
}

func putRule(l *entry) {
	r := l.w.P.Rules[l.arg(0)]
	mode, remedy := string(r.Mode), string(r.Remedy)
	l.str("mode", &mode)
	l.str("remedy", &remedy)
	r.Mode, r.Remedy = reconcile.Mode(mode), reconcile.Remedy(remedy)
	l.dur("after", &r.After)
	l.num("rollout", &r.Rollout)
	l.num("looks", &r.Looks)
	l.dur("apart", &r.Apart)
	l.num("count", &r.Count)
	l.dur("window", &r.Window)
	l.yes("named", &r.Named)
	if when := l.under("when."); when != nil {
		o := reconcile.Override{When: when}
		l.dur("then", &o.After)
		r.Overrides = append(r.Overrides, o)
	}
	l.w.P.Rules[l.arg(0)] = r
}

func putLimits(l *entry) {
	limits := &l.w.P.Limits
	l.num("per_pass", &limits.PerPass)
	l.num("per_hour", &limits.PerHour)
	l.dur("kept", &limits.KeepAlive)
	for key, to := range map[string]*float64{"share": &limits.Share, "breaker": &limits.Breaker} {
		percent := -1
		if l.num(key, &percent); percent >= 0 {
			*to = float64(percent) / 100
		}
	}
}

func putProvider(l *entry) {
	name := l.arg(0)
	p, ok := l.w.P.Providers[name]
	if !ok {
		p = l.w.P.Providers["daytona"]
		p.Name = name
	}
	off := p.Probe.Off
	l.str("kind", &p.Kind)
	l.yes("exclusive", &p.Exclusive)
	l.yes("label", &p.LinkTask)
	l.yes("named", &p.LinkSandbox)
	l.yes("id", &p.SandboxIsID)
	l.yes("name", &p.SandboxIsName)
	l.yes("awake", &p.KeptAwake)
	l.yes("suspends", &p.Suspends)
	l.yes("nameslast", &p.NamesLast)
	l.yes("records", &p.Records)
	l.yes("stores", &p.TwoStores)
	l.yes("referenced", &p.Referenced)
	l.dur("lag", &p.IndexLag)
	l.yes("required", &p.LinkRequired)
	l.yes("endsatrest", &p.EndsAtRest)
	l.yes("off", &off)
	l.dur("every", &p.Probe.Every)
	l.str("worker", &p.Probe.Worker)
	l.list("templates", &p.Templates)
	p.Probe.Off = off
	p.LinkSandbox = p.LinkSandbox || p.SandboxIsID || p.SandboxIsName
	l.w.P.Tasks.SandboxKnown = l.w.P.Tasks.SandboxKnown || p.LinkSandbox
	l.w.P.Providers[name] = p
}

func putTasks(l *entry) {
	tasks := &l.w.P.Tasks
	for _, what := range l.args {
		switch what {
		case "none":
			tasks.None = true
		case "standby":
			l.w.S.Clock.Standby = true
		case "empty":
			l.w.S.Clock.Empty = true
		case "sleeps":
			tasks.DeadlineFails = false
		case "readonly":
			tasks.FailsRows = false
		case "requeues":
			tasks.Requeues = true
		case "keep":
			tasks.KeepSandboxes = true
		case "tenants":
			tasks.Tenants = true
		case "eventless":
			tasks.Events, tasks.Heartbeats = false, false
		default:
			l.w.T.Fatalf("line %q: tasks cannot be %q", l.text, what)
		}
	}
}

// putClock: rows are read this long after t0.
func putClock(l *entry) {
	var after time.Duration
	l.dur("read", &after)
	l.w.S.T0 = TaskNow.Add(-after)
	l.w.S.Clock.Now = l.w.S.T0
}

func (l *entry) task() reconcile.Task {
	state := reconcile.TaskState(l.arg(1))
	t := reconcile.Task{ID: l.arg(0), Version: "1", Status: l.arg(1), State: state, AsOf: TaskNow, Attrs: l.under("attr.")}
	if state == "unknown" {
		t.State = reconcile.TaskUnknown
	}
	l.str("status", &t.Status)
	l.str("sandbox", &t.Sandbox)
	l.str("provider", &t.Provider)
	l.str("template", &t.Template)
	l.str("error", &t.Error)
	l.str("session", &t.Session)
	l.str("trace", &t.Trace)
	l.str("mark", &t.Mark)
	l.str("asked", &t.AttemptMark)
	l.str("tenant", &t.Tenant)
	l.num("sandboxes", &t.Sandboxes)
	for key, to := range map[string]*time.Time{
		"created": &t.CreatedAt, "assigned": &t.AssignedAt, "started": &t.StartedAt, "heartbeat": &t.HeartbeatAt,
		"activity": &t.ActivityAt, "updated": &t.UpdatedAt, "deadline": &t.DeadlineAt, "keep": &t.KeepAliveUntil,
		"since": &t.StateSince, "ended": &t.EndedAt, "due": &t.DueAt, "sleeps": &t.SleepsAt,
		"ev.started": &t.Events.Started, "ev.activity": &t.Events.Activity, "ev.heartbeat": &t.Events.Heartbeat,
		"ev.waiting": &t.Events.Waiting, "ev.finished": &t.Events.Finished,
	} {
		l.ago(key, TaskNow, to)
	}
	l.dur("timeout", &t.Timeout)
	l.yes("outside", &t.Outside)
	attempts := ""
	if l.str("attempts", &attempts); attempts != "" {
		now, most, _ := strings.Cut(attempts, "/")
		t.Attempts, t.MaxAttempts, t.Retries = number(l.w.T, now), number(l.w.T, most), true
	}
	return t
}

// putRow is a row that was read by key.
func putRow(l *entry) {
	t := l.task()
	l.w.S.Rows[t.ID] = t
	if t.Sandbox != "" && l.w.P.Tasks.SandboxKnown {
		l.w.S.ByKey[l.w.P.Named(&t)] = t
	}
}

func (l *entry) box() reconcile.Sandbox {
	s := reconcile.Sandbox{Ref: l.ref(0), State: reconcile.SandboxState(l.arg(1)), Raw: l.arg(1), Owned: true,
		CreatedAt: providerNow.Add(-time.Hour), AsOf: providerNow, Labels: l.under("label.")}
	if s.State == "unknown" {
		s.State = reconcile.SandboxUnknown
	}
	l.yes("owned", &s.Owned)
	l.yes("hollow", &s.NoContainer)
	l.yes("lasting", &s.StableName)
	l.yes("spare", &s.Spare)
	l.yes("canary", &s.Canary)
	l.yes("excepted", &s.Excepted)
	var further []string
	l.list("further", &further)
	for _, value := range further {
		s.Further = append(s.Further, reconcile.FurtherKey{Value: value})
	}
	for key, to := range map[string]*string{"task": &s.Task, "tenant": &s.Tenant, "key": &s.SandboxKey, "also": &s.AltKey,
		"no-end": &s.NotTerminable, "no-stop": &s.NotStoppable,
		"name": &s.Name, "raw": &s.Raw, "unproven": &s.Unproven, "unsigned": &s.Unsigned,
		"template": &s.Template, "region": &s.Region, "error": &s.Error} {
		l.str(key, to)
	}
	l.sized(&s.Size)
	l.ago("created", providerNow, &s.CreatedAt)
	if s.State == reconcile.SandboxFailed {
		s.UpdatedAt = s.CreatedAt // as most providers tell; updated=never where one does not
	}
	l.ago("updated", providerNow, &s.UpdatedAt)
	l.ago("active", providerNow, &s.LastActivityAt)
	return s
}

// sized sets cpu=4 gib=8 gpu=1.
func (l *entry) sized(s *reconcile.Size) {
	for key, to := range map[string]*float64{"cpu": &s.CPU, "gib": &s.MemoryGiB, "gpu": &s.GPU} {
		n := 0
		l.num(key, &n)
		*to = float64(n)
	}
}

func putListing(l *entry) {
	seen := reconcile.ListingSeen{Listing: reconcile.Listing{Provider: l.arg(0), Date: providerNow}}
	l.str("failed", &seen.Error)
	l.list("missing", &seen.Missing)
	clock := reconcile.ClockSeen{Measured: seen.Error == ""}
	l.dur("off", &clock.Off)
	l.yes("undated", &clock.Unsaid)
	l.w.S.Clocks.Note(seen.Provider, clock)
	seen.Complete = seen.Error == "" && len(seen.Missing) == 0
	l.w.S.Listings[seen.Provider] = seen
}

// putLook is a direct get by id; like a pass, it adds what it found to the sandboxes.
func putLook(l *entry) {
	ref := l.ref(0)
	switch l.arg(1) {
	case "gone":
		l.w.S.Lookups[ref] = reconcile.Lookup{Gone: true, Death: l.death()}
	case "error":
		l.w.S.Lookups[ref] = reconcile.Lookup{Error: "503 Service Unavailable"}
	default:
		died := l.death()
		s := l.box()
		l.w.S.Lookups[ref] = reconcile.Lookup{Sandbox: s, Death: died, Listed: l.w.S.Lists(ref)}
		l.w.S.AddOwned(s)
	}
}

// death is the provider's record of an end: died=AGE, and why=REASON.
func (l *entry) death() *reconcile.Death {
	d := reconcile.Death{AsOf: providerNow, Reason: "oom", Record: "audit log"}
	l.ago("died", providerNow, &d.At)
	l.str("why", &d.Reason)
	l.str("asked", &d.By)
	if d.At.IsZero() {
		return nil
	}
	return &d
}

func putFind(l *entry) {
	find := reconcile.FindLookup{Asked: reconcile.SortedKeys(l.w.P.Providers)}
	switch l.arg(1) {
	case "none":
	case "error":
		find = reconcile.FindLookup{Error: "daytona: 503 Service Unavailable"}
	default:
		s := reconcile.Sandbox{Ref: l.ref(1), State: reconcile.SandboxRunning, Raw: "running", Owned: true, Task: l.arg(0),
			AsOf: providerNow}
		l.str("key", &s.SandboxKey)
		find.Sandboxes = []reconcile.Sandbox{s}
		l.w.S.AddOwned(s)
	}
	l.w.S.Finds[l.arg(0)] = find
}

func putTemplate(l *entry) {
	ref := l.ref(0)
	t := reconcile.Template{Provider: ref.Provider, ID: ref.ID, Name: ref.ID, Raw: l.arg(1),
		State: reconcile.TemplateState(l.arg(1)), AsOf: providerNow}
	l.str("error", &t.Error)
	l.ago("used", providerNow, &t.LastUsed)
	l.ago("expires", providerNow, &t.ExpiresAt)
	l.ago("asof", l.w.S.Memory.Now, &t.AsOf)
	l.w.S.Templates = append(l.w.S.Templates, t)
}

// settle fills in what a pass would have read, where the text does not say otherwise.
func (w *World) settle() {
	for name := range w.P.Providers {
		if _, said := w.S.Listings[name]; !said && w.S.Kind == reconcile.Full {
			w.S.Listings[name] = reconcile.ListingSeen{Listing: reconcile.Listing{Provider: name, Date: providerNow,
				Complete: true}}
		}
	}
	for _, s := range w.S.Sandboxes {
		_, looked := w.S.Lookups[s.Ref]
		if seen, listed := w.S.Listings[s.Provider]; listed && s.Owned && !looked {
			seen.Owned++
			w.S.Listings[s.Provider] = seen
		}
	}
	live, named := map[string]bool{}, map[string]bool{}
	for _, t := range w.S.Tasks {
		live[t.ID], named[t.Sandbox] = true, true
	}
	for id, seen := range w.S.Memory.Tasks.All() {
		if seen.Live {
			w.absent(id, live)
		}
	}
	for _, s := range w.S.Sandboxes {
		w.absent(reconcile.FirstOf(s.Task, w.S.Memory.Sandboxes.Of(s.Ref).Task), live)
		for _, key := range s.Keys() {
			held := slices.ContainsFunc(slices.Collect(maps.Keys(w.S.ByKey)),
				func(at reconcile.Ref) bool { return at.ID == key })
			if !held && !named[key] {
				w.absent("sandbox:"+key, live)
			}
		}
	}
	for i := range w.S.Memory.Verdicts {
		w.absent(w.S.Memory.Verdicts[i].Task, live)
	}
	slices.SortFunc(w.S.Tasks, func(a, b reconcile.Task) int { return strings.Compare(a.ID, b.ID) })
}

func (w *World) absent(id string, live map[string]bool) {
	_, row := w.S.Rows[id]
	if id != "" && !row && !live[id] && !w.S.Unparsable[id] && !w.unread[id] {
		w.S.Absent[id] = true
	}
}

// Sections say which lines of a world each section of a scenario may have.
var Sections = map[string]string{
	"policy":    "pass rule limits provider tasks knows",
	"tasks":     "clock tasks task row unread unparsable",
	"sandboxes": "box listing look find template",
	"ledger":    "knew finding source action probe started pause hold release breaker mode spent watched",
}
