package backtest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A replayed rule is one whose verdicts follow from rows and events alone.
type replayed struct {
	rule  string
	words string              // what the task did: "were silent for longer than"
	asked reconcile.TaskState // that it is about, where that matters
	kind  uint8               // what of the others' doings may hold it; 0: nothing

	// spans are what the rule may count of the task; false: the task is not one that it judges.
	spans func(*Life) ([]span, bool)
	// least is the threshold of the task, where that is its own and not the rule's.
	least func(*Life) time.Duration
	// lacks says why a platform of this kind cannot be replayed; "" when it can.
	lacks func(*reconcile.TasksPolicy) string
}

// replays are the rules that are replayed, in the order of the table.
var replays = []replayed{
	{rule: "assigned-stale", words: "took longer to start than", spans: startSpans},
	{rule: "heartbeat-lost", words: "were silent for longer than", kind: heard, spans: silenceSpans, lacks: noHeartbeats},
	{rule: "inactive", words: "were inactive for longer than", kind: active, spans: idleSpans, lacks: noEvents},
	{rule: "deadline-exceeded", words: "ran for longer than", asked: reconcile.TaskRunning, spans: runSpans,
		least: ownTimeout},
	{rule: "finished-lingering", words: "were used again after", spans: lingerSpans, lacks: noEvents},
	{rule: "pending-stuck", words: "waited for longer than", asked: reconcile.TaskPending, spans: waitSpans},
}

func noEvents(p *reconcile.TasksPolicy) string {
	if p.Events {
		return ""
	}
	return "the platform keeps no events: a row tells only when its worker was last heard, and none of the silences before"
}

func noHeartbeats(p *reconcile.TasksPolicy) string {
	if why := noEvents(p); why != "" || p.Heartbeats {
		return why
	}
	return "workers send no heartbeats here: the rule finds nothing"
}

// startSpans is the time from hand-out to start. A task that nothing shows to have started tells nothing of it,
// unless it failed.
func startSpans(l *Life) ([]span, bool) {
	from, began := l.assigned(), l.started()
	switch {
	case from.IsZero() || l.handedOutBefore():
		return nil, false
	case !began.IsZero() && !began.Before(from):
		return []span{{from, began, true}}, true
	case began.IsZero() && (l.Outcome() == Died || l.Outcome() == Ours) && l.Ended.After(from):
		return []span{{from, l.Ended, false}}, true
	}
	return nil, false
}

// waitSpans is the time until the task was handed out, else until it started.
func waitSpans(l *Life) ([]span, bool) {
	from, until := l.Task.CreatedAt, l.Task.AssignedAt
	if until.IsZero() {
		until = l.started()
	}
	if from.IsZero() || until.IsZero() || until.Before(from) || l.handedOutBefore() {
		return nil, false
	}
	return []span{{from, until, true}}, true
}

func silenceSpans(l *Life) ([]span, bool) {
	spans := l.gaps(func(Sign) bool { return true })
	return spans, len(spans) > 0
}

func idleSpans(l *Life) ([]span, bool) {
	spans := l.gaps(func(s Sign) bool { return s.Kind&Heartbeat == 0 })
	return spans, len(spans) > 0
}

// runSpans is the whole run, from the earliest moment at which it can have begun.
func runSpans(l *Life) ([]span, bool) {
	from := l.begun()
	if from.IsZero() || !l.Ended.After(from) || l.started().IsZero() && l.handedOutBefore() {
		return nil, false
	}
	return []span{{from, l.Ended, l.Outcome() == Completed}}, true
}

func ownTimeout(l *Life) time.Duration { return l.Task.Timeout }

// lingerSpans are the times after the end in which nobody used the sandbox, and somebody did later.
func lingerSpans(l *Life) ([]span, bool) {
	if o := l.Outcome(); o != Completed && o != Died {
		return nil, false
	}
	out, last := []span{}, l.Ended
	for _, s := range l.Signs {
		if s.Kind&Heartbeat == 0 && s.At.After(last) {
			out = append(out, span{last, s.At, true})
			last = s.At
		}
	}
	return out, true
}

// unreplayed says of each other rule why rows and events do not tell what it would have seen.
var unreplayed = map[string]string{
	"finished-unrecorded":      "it only reports",
	"sandbox-missing":          "a history keeps no listing of sandboxes",
	"stop-ignored":             "a history does not tell when a stopped task's sandbox was gone",
	"looping":                  "it only reports",
	"orphan":                   "a history keeps no sandboxes, and none that no task explains",
	"duplicate":                "a history keeps one sandbox for each task",
	"record-without-container": "a history keeps no listing of sandboxes",
	"provisioning-stuck":       "a history keeps no states of sandboxes",
	"idle-broken":              "a history keeps no probes",
	"executions-stuck":         "a history keeps no executions",
	"errored":                  "a history keeps no states of sandboxes",
	"over-age":                 "a history keeps no sandboxes",
	"awake":                    "a history keeps no states of sandboxes",
	"terminating-stuck":        "a history keeps no listing of sandboxes",
	"runaway":                  "it only reports",
	"template-unusable":        "it is about the fleet, not about one task",
	"systemic":                 "it is about the fleet, not about one task",
	"capacity":                 "it is about the fleet, not about one task",
}
