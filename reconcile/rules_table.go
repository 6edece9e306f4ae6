package reconcile

import "time"

// What may repair a finding, the default first.
var (
	onReport  = []Remedy{Report}
	onTask    = []Remedy{Fail, Requeue, Report}
	onSandbox = []Remedy{Terminate, Quarantine, Report}
	// A sandbox that nobody works in: it may also be stopped and kept for good.
	onUnused = []Remedy{Terminate, Quarantine, Stop, Report}
	// A sandbox that may have a task: the row is failed first, where there is one.
	onBoth = []Remedy{Fail, Requeue, Terminate, Quarantine, Report}
)

// Rules is the ordered table, one row a rule. A database that may be the wrong one drives no
// change at all, so every rule that rests on a row rests on the tasks; deadlines and stops are
// authoritative and rest on nothing else. All findings of a subject are recorded; the first that
// may act decides.
var Rules = []Rule{
	{
		Name: "finished-unrecorded", Means: "the worker said that it finished, the row does not",
		NeedsTasks: true, Remedies: onReport, AtOnce: true,
	},
	{
		Name: "assigned-stale", Means: "tasks that were handed out and whose worker never started",
		NeedsTasks: true, RestsOn: OnTasks | OnLink | OnEvents | OnListing, RefutedBy: BySign, Worker: true,
		Remedies: onTask, Floor: 10 * time.Second,
		Default: RulePolicy{After: time.Hour, Conclusive: 20 * time.Second},
		// A set-up may be silent for minutes with coding agents.
		Presets: map[string]time.Duration{"omoios": 3 * time.Minute, "coding-agent": 15 * time.Minute},
	},
	{
		Name: "sandbox-missing", Means: "live tasks whose sandbox is gone",
		NeedsTasks: true, RestsOn: OnTasks | OnLink | OnListing, RefutedBy: BySign, FromSighting: true,
		Remedies: onTask, Default: RulePolicy{After: 30 * time.Second, Looks: 2}, Keys: []string{"looks"},
	},
	{
		Name: "heartbeat-lost", Means: "running tasks without heartbeats",
		NeedsTasks: true, RestsOn: OnTasks | OnEvents | OnListing, RefutedBy: BySign,
		Silence: true, Needs: NeedProbes,
		Remedies: onTask, Floor: 30 * time.Second, Default: RulePolicy{After: 90 * time.Second},
		Presets: map[string]time.Duration{"prefect": 9 * time.Minute}, // three of its 180 seconds
	},
	{
		Name: "inactive", Means: "tasks with heartbeats and no activity",
		NeedsTasks: true, RestsOn: OnTasks | OnEvents | OnActivity | OnListing, RefutedBy: ByActivity,
		Silence: true, Needs: NeedProbes,
		Remedies: onTask, Default: RulePolicy{After: 15 * time.Minute},
		Presets: map[string]time.Duration{"coding-agent": time.Minute},
	},
	{
		Name: "deadline-exceeded", Means: "tasks that run past their deadline",
		NeedsTasks: true, RestsOn: OnTasks, Authoritative: true,
		Remedies: onTask, AtOnce: true, Presets: map[string]time.Duration{"coding-agent": 5 * time.Minute},
	},
	{
		Name: "stop-ignored", Means: "stopped tasks whose sandbox lives on",
		Family: CleanUp, NeedsTasks: true, RestsOn: OnTasks,
		Remedies: onUnused, Default: RulePolicy{After: 10 * time.Minute},
		Presets: map[string]time.Duration{"omoios": 5 * time.Second, "coding-agent": 5 * time.Second},
	},
	{
		Name: "finished-lingering", Means: "finished tasks whose sandbox lives on",
		Family: CleanUp, NeedsTasks: true, RestsOn: OnTasks | OnListing, KeptAlive: true, MakesRoom: true,
		Remedies: onUnused, Default: RulePolicy{After: time.Hour},
		Presets: map[string]time.Duration{"omoios": 10 * time.Minute, "coding-agent": 10 * time.Minute},
	},
	{
		Name: "pending-stuck", Means: "tasks that nothing picks up",
		NeedsTasks: true, RestsOn: OnTasks, Needs: NeedQuotas,
		Remedies: []Remedy{Report, Fail}, Default: RulePolicy{After: 10 * time.Minute},
	},
	{
		Name: "looping", Means: "tasks that fail again and again",
		NeedsTasks: true, RestsOn: OnTasks,
		Remedies: onReport, AtOnce: true, Default: RulePolicy{Count: 3, Window: time.Hour}, Keys: []string{"count", "window"},
	},
	{
		Name: "orphan", Means: "sandboxes that no task explains",
		Family: CleanUp, NeedsTasks: true, RestsOn: OnTasks | OnLink | OnListing, FullOnly: true, MakesRoom: true,
		SightedAgain: true, Remedies: onUnused, Floor: 30 * time.Second,
		Default: RulePolicy{After: time.Hour, Sightings: 2, Apart: time.Minute}, Keys: []string{"sightings", "apart"},
		Presets: map[string]time.Duration{"omoios": 5 * time.Minute, "coding-agent": 5 * time.Minute},
	},
	{
		Name: "duplicate", Means: "two live sandboxes for one task",
		Family: CleanUp, NeedsTasks: true, RestsOn: OnTasks | OnLink | OnListing, FullOnly: true, OfLiveTask: EndUnnamed,
		Remedies: onUnused, Default: RulePolicy{After: 10 * time.Minute},
		Presets: map[string]time.Duration{"omoios": 2 * time.Minute, "coding-agent": 2 * time.Minute},
	},
	{
		Name: "record-without-container", Means: "the platform's registry says running, nothing runs",
		RestsOn: OnListing, FullOnly: true,
		Remedies: []Remedy{Terminate, Report}, AtOnce: true,
		Default: RulePolicy{Looks: 2, Apart: 30 * time.Second}, Keys: []string{"looks", "apart"},
	},
	{
		Name: "provisioning-stuck", Means: "sandboxes that do not come up",
		RestsOn: OnTasks | OnListing, RefutedBy: BySign, RowFirst: true,
		Remedies: onBoth, Default: RulePolicy{After: time.Hour},
		// OmoiOS creates for up to 4 minutes and installs for up to 7.
		Presets: map[string]time.Duration{"omoios": 12 * time.Minute, "coding-agent": 5 * time.Minute},
	},
	{
		Name: "idle-broken", Means: "sandboxes that say idle and answer nothing",
		RestsOn: OnTasks | OnProbes | OnListing, RefutedBy: ByActivity, Needs: NeedProbes, RowFirst: true,
		Remedies: onBoth, Floor: 5 * time.Second,
		Default: RulePolicy{After: time.Minute, Failures: 3}, Keys: []string{"failures"},
	},
	{
		Name: "executions-stuck", Means: "executions that stay queued",
		RestsOn: OnTasks | OnProbes | OnListing, RefutedBy: ByActivity, Needs: NeedExecutions, RowFirst: true,
		Remedies: onBoth, Default: RulePolicy{After: 2 * time.Minute},
	},
	{
		Name: "errored", Means: "sandboxes in a failed state",
		RestsOn: OnListing, OfLiveTask: EndLifeless,
		Remedies: onSandbox, Default: RulePolicy{After: time.Minute},
	},
	{
		Name: "over-age", Means: "sandboxes that are too old",
		Family: CleanUp, RestsOn: OnListing, FullOnly: true, MakesRoom: true,
		Remedies: onSandbox, Off: true, Must: true,
	},
	{
		Name: "awake", Means: "sandboxes that should rest and run",
		NeedsTasks: true, RestsOn: OnTasks | OnListing, FullOnly: true,
		Remedies: []Remedy{Report, Stop}, Default: RulePolicy{After: time.Hour},
	},
	{
		Name: "terminating-stuck", Means: "sandboxes that do not go",
		RestsOn: OnListing, FullOnly: true,
		Remedies: []Remedy{Report, Terminate}, Default: RulePolicy{After: 2 * time.Minute},
	},
	{
		Name: "runaway", Means: "sandboxes that use too much",
		RestsOn: OnTasks | OnListing, FullOnly: true, Needs: NeedUsage,
		Remedies: onReport, Off: true, Must: true,
	},
	{
		Name: "template-unusable", Means: "templates that cannot be used, or not for long", Family: Fleet,
		Remedies: []Remedy{Report, Activate}, AtOnce: true,
		Default: RulePolicy{Ahead: 48 * time.Hour}, Keys: []string{"ahead"},
	},
	{
		Name: "systemic", Means: "many failures with one cause", Family: Fleet,
		Remedies: onReport, AtOnce: true, Default: RulePolicy{Count: 5, Window: 30 * time.Minute}, Keys: []string{"count",
			"window"},
		Window: 2 * time.Hour, // the ledger keeps verdicts at hand for so long
	},
	{
		Name: "capacity", Means: "too many sandboxes, or a quota nearly used up", Family: Fleet, Needs: NeedQuotas,
		Remedies: onReport, AtOnce: true, Keys: []string{"critical", "escalate", "for", "quota", "make_room", "at_rest"},
		// How many sandboxes are too many only the platform knows: 0 is not judged.
		Default: RulePolicy{For: 30 * time.Minute, Quota: 80},
	},
}

// RuleNames are the names of all rules, in the order of the table.
var RuleNames = namesOf(Rules)

func namesOf(rules []Rule) []string {
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].Name
	}
	return names
}
