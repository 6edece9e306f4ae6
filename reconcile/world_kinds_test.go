package reconcile

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// kinds are the lines that a world may have.
var kinds map[string]func(*entry)

func init() {
	kinds = map[string]func(*entry){
		"pass":     func(l *entry) { l.w.s.Kind = PassKind(l.arg(0)) },
		"rule":     putRule,
		"limits":   putLimits,
		"provider": putProvider,
		"tasks":    putTasks,

		"clock":      putClock,
		"task":       func(l *entry) { l.w.s.Tasks = append(l.w.s.Tasks, l.task()) },
		"row":        putRow,
		"unread":     func(l *entry) { l.w.unread[l.arg(0)] = true },
		"unparsable": func(l *entry) { l.w.s.Unparsable[l.arg(0)] = true },

		"box":      func(l *entry) { l.w.s.add(l.box()) },
		"listing":  putListing,
		"explains": func(l *entry) { l.w.s.Explained[l.ref(1)] = l.arg(0) },
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
		"mode":    func(l *entry) { l.w.s.Memory.Controls.Modes[l.arg(0)] = Mode(l.arg(1)) },
		"spent":   func(l *entry) { l.w.s.Memory.Spent.Hour = number(l.w.t, l.arg(0)) },
		"watched": putWatched,
		"knows":   putKnows,
	}
}

// testPolicy is the config's defaults, enforced.
func testPolicy() Policy {
	rules := map[string]RulePolicy{}
	for i := range Rules {
		r := Rules[i].Settings("omoios")
		r.Mode, r.Named = Enforce, true
		switch Rules[i].Name {
		case "provisioning-stuck":
			r.After = 5 * time.Minute
		case "runaway":
			r.After = 10 * time.Minute
		case "capacity":
			r.Critical, r.Escalate = 20, 50
		}
		rules[Rules[i].Name] = r
	}
	delete(rules, "systemic") // the tests that want it say so
	return Policy{
		Installation: "test", Quick: 15 * time.Second, Full: 2 * time.Minute, Rules: rules,
		Limits: Limits{PerPass: 20, Share: 0.1, Breaker: 0.3, PerHour: 200},
		// What a config has to say before it is acted on is said here; the tests of the defaults unsay it.
		Providers: map[string]ProviderPolicy{"daytona": {Name: "daytona", Kind: "daytona", Exclusive: true, LinkTask: true,
			LinkRequired: true, EndsAtRest: true,
			Probe: ProbePolicy{Exec: "true", Path: "/", Every: 10 * time.Minute, Timeout: 5 * time.Second, Budget: 50}}},
		Tasks: TasksPolicy{Events: true, Heartbeats: true, Requeue: true, HasUpdated: true, ErrorMapped: true,
			FailStatus: "failed", DeadlineFails: true},
	}
}

func putRule(l *entry) {
	r := l.w.p.Rules[l.arg(0)]
	mode, remedy := string(r.Mode), string(r.Remedy)
	l.str("mode", &mode)
	l.str("remedy", &remedy)
	r.Mode, r.Remedy = Mode(mode), Remedy(remedy)
	l.dur("after", &r.After)
	l.num("rollout", &r.Rollout)
	l.num("looks", &r.Looks)
	l.dur("apart", &r.Apart)
	l.num("count", &r.Count)
	l.dur("window", &r.Window)
	l.yes("named", &r.Named)
	if when := l.under("when."); when != nil {
		o := Override{When: when}
		l.dur("then", &o.After)
		r.Overrides = append(r.Overrides, o)
	}
	l.w.p.Rules[l.arg(0)] = r
}

func putLimits(l *entry) {
	limits := &l.w.p.Limits
	l.num("per_pass", &limits.PerPass)
	l.num("per_hour", &limits.PerHour)
	for key, to := range map[string]*float64{"share": &limits.Share, "breaker": &limits.Breaker} {
		percent := -1
		if l.num(key, &percent); percent >= 0 {
			*to = float64(percent) / 100
		}
	}
}

func putProvider(l *entry) {
	name := l.arg(0)
	p, ok := l.w.p.Providers[name]
	if !ok {
		p = l.w.p.Providers["daytona"]
		p.Name = name
	}
	off := p.Probe.Off
	l.str("kind", &p.Kind)
	l.yes("exclusive", &p.Exclusive)
	l.yes("label", &p.LinkTask)
	l.yes("named", &p.LinkSandbox)
	l.yes("id", &p.SandboxIsID)
	l.yes("awake", &p.KeptAwake)
	l.yes("required", &p.LinkRequired)
	l.yes("endsatrest", &p.EndsAtRest)
	l.yes("off", &off)
	l.dur("every", &p.Probe.Every)
	l.list("templates", &p.Templates)
	p.Probe.Off = off
	p.LinkSandbox = p.LinkSandbox || p.SandboxIsID
	l.w.p.Tasks.SandboxKnown = l.w.p.Tasks.SandboxKnown || p.LinkSandbox
	l.w.p.Providers[name] = p
}

func putTasks(l *entry) {
	tasks := &l.w.p.Tasks
	for _, what := range l.args {
		switch what {
		case "none":
			tasks.None = true
		case "standby":
			l.w.s.Clock.Standby = true
		case "empty":
			l.w.s.Clock.Empty = true
		case "sleeps":
			tasks.DeadlineFails = false
		case "readonly":
			tasks.FailStatus = ""
		case "eventless":
			tasks.Events, tasks.Heartbeats = false, false
		default:
			l.w.t.Fatalf("line %q: tasks cannot be %q", l.text, what)
		}
	}
}

// putClock: rows are read this long after t0.
func putClock(l *entry) {
	var after time.Duration
	l.dur("read", &after)
	l.w.s.T0 = taskNow.Add(-after)
	l.w.s.Clock.Now = l.w.s.T0
}

func (l *entry) task() Task {
	state := TaskState(l.arg(1))
	t := Task{ID: l.arg(0), Version: "1", Status: l.arg(1), State: state, AsOf: taskNow, Attrs: l.under("attr.")}
	if state == "unknown" {
		t.State = TaskUnknown
	}
	l.str("status", &t.Status)
	l.str("sandbox", &t.Sandbox)
	l.str("provider", &t.Provider)
	l.str("template", &t.Template)
	l.str("error", &t.Error)
	l.str("session", &t.Session)
	l.str("mark", &t.Mark)
	l.num("sandboxes", &t.Sandboxes)
	for key, to := range map[string]*time.Time{
		"created": &t.CreatedAt, "assigned": &t.AssignedAt, "started": &t.StartedAt, "heartbeat": &t.HeartbeatAt,
		"activity": &t.ActivityAt, "updated": &t.UpdatedAt, "deadline": &t.DeadlineAt, "keep": &t.KeepAliveUntil,
		"ev.started": &t.Events.Started, "ev.activity": &t.Events.Activity, "ev.heartbeat": &t.Events.Heartbeat,
		"ev.waiting": &t.Events.Waiting, "ev.finished": &t.Events.Finished,
	} {
		l.ago(key, taskNow, to)
	}
	l.dur("timeout", &t.Timeout)
	l.yes("outside", &t.Outside)
	attempts := ""
	if l.str("attempts", &attempts); attempts != "" {
		now, most, _ := strings.Cut(attempts, "/")
		t.Attempts, t.MaxAttempts, t.Retries = number(l.w.t, now), number(l.w.t, most), true
	}
	return t
}

// putRow is a row that was read by key.
func putRow(l *entry) {
	t := l.task()
	l.w.s.Rows[t.ID] = t
	if t.Sandbox != "" && l.w.p.Tasks.SandboxKnown {
		l.w.s.ByKey[l.w.p.named(&t)] = t
	}
}

func (l *entry) box() Sandbox {
	s := Sandbox{Ref: l.ref(0), State: SandboxState(l.arg(1)), Raw: l.arg(1), Owned: true,
		CreatedAt: providerNow.Add(-time.Hour), AsOf: providerNow, Labels: l.under("label.")}
	if s.State == "unknown" {
		s.State = SandboxUnknown
	}
	l.yes("owned", &s.Owned)
	l.yes("hollow", &s.Hollow)
	l.yes("lasting", &s.Lasting)
	for key, to := range map[string]*string{"task": &s.Task, "key": &s.SandboxKey, "also": &s.AlsoKey, "no-end": &s.NoEnd, "name": &s.Name, "raw": &s.Raw,
		"template": &s.Template, "region": &s.Region, "error": &s.Error} {
		l.str(key, to)
	}
	l.ago("created", providerNow, &s.CreatedAt)
	if s.State == SandboxFailed {
		s.UpdatedAt = s.CreatedAt // as most providers tell; updated=never where one does not
	}
	l.ago("updated", providerNow, &s.UpdatedAt)
	l.ago("active", providerNow, &s.LastActivityAt)
	return s
}

func putListing(l *entry) {
	seen := ListingSeen{Listing: Listing{Provider: l.arg(0), Date: providerNow}}
	l.str("failed", &seen.Error)
	l.list("missing", &seen.Missing)
	seen.Complete = seen.Error == "" && len(seen.Missing) == 0
	l.w.s.Listings[seen.Provider] = seen
}

// putLook is a direct get by id; like a pass, it adds what it found to the sandboxes.
func putLook(l *entry) {
	ref := l.ref(0)
	switch l.arg(1) {
	case "gone":
		l.w.s.Looks[ref] = Look{Gone: true}
	case "error":
		l.w.s.Looks[ref] = Look{Error: "503 Service Unavailable"}
	default:
		s := l.box()
		l.w.s.Looks[ref] = Look{Sandbox: s}
		l.w.s.addOwned(s)
	}
}

func putFind(l *entry) {
	find := FindLook{Asked: sortedKeys(l.w.p.Providers)}
	switch l.arg(1) {
	case "none":
	case "error":
		find = FindLook{Error: "daytona: 503 Service Unavailable"}
	default:
		s := Sandbox{Ref: l.ref(1), State: SandboxRunning, Raw: "running", Owned: true, Task: l.arg(0), AsOf: providerNow}
		l.str("key", &s.SandboxKey)
		find.Sandboxes = []Sandbox{s}
		l.w.s.addOwned(s)
	}
	l.w.s.Finds[l.arg(0)] = find
}

func putTemplate(l *entry) {
	ref := l.ref(0)
	t := Template{ID: ref.ID, Name: ref.ID, State: TemplateState(l.arg(1)), Raw: l.arg(1), AsOf: providerNow}
	l.str("error", &t.Error)
	l.ago("used", providerNow, &t.LastUsed)
	l.ago("expires", providerNow, &t.ExpiresAt)
	l.w.s.Templates = append(l.w.s.Templates, t)
	l.w.s.TemplateOf = append(l.w.s.TemplateOf, ref.Provider)
}

// settle fills in what a pass would have read, where the text does not say otherwise.
func (w *world) settle() {
	for name := range w.p.Providers {
		if _, said := w.s.Listings[name]; !said && w.s.Kind == Full {
			w.s.Listings[name] = ListingSeen{Listing: Listing{Provider: name, Date: providerNow, Complete: true}}
		}
	}
	for _, s := range w.s.Sandboxes {
		_, looked := w.s.Looks[s.Ref]
		if seen, listed := w.s.Listings[s.Provider]; listed && s.Owned && !looked {
			seen.Owned++
			w.s.Listings[s.Provider] = seen
		}
	}
	live, named := map[string]bool{}, map[string]bool{}
	for _, t := range w.s.Tasks {
		live[t.ID], named[t.Sandbox] = true, true
	}
	for id, seen := range w.s.Memory.Tasks {
		if seen.Live {
			w.absent(id, live)
		}
	}
	for _, s := range w.s.Sandboxes {
		w.absent(firstOf(s.Task, w.s.Memory.Sandboxes[s.Ref].Task), live)
		for _, key := range s.keys() {
			held := slices.ContainsFunc(slices.Collect(maps.Keys(w.s.ByKey)), func(at Ref) bool { return at.ID == key })
			if !held && !named[key] {
				w.absent("sandbox:"+key, live)
			}
		}
	}
	for i := range w.s.Memory.Verdicts {
		w.absent(w.s.Memory.Verdicts[i].Task, live)
	}
	slices.SortFunc(w.s.Tasks, func(a, b Task) int { return strings.Compare(a.ID, b.ID) })
}

func (w *world) absent(id string, live map[string]bool) {
	_, row := w.s.Rows[id]
	if id != "" && !row && !live[id] && !w.s.Unparsable[id] && !w.unread[id] {
		w.s.Absent[id] = true
	}
}
