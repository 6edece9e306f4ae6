package propose

import (
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// stateWords are the words of statuses whose meaning platforms agree on. A status that is none of them is left open:
// its rows are never judged until somebody says what it means.
var stateWords = map[reconcile.TaskState][]string{
	reconcile.TaskPending: {"pending", "queued", "created", "new", "available", "scheduled", "todo", "ready", "submitted", "enqueued",
		"retry", "retryable", "retrying", "delayed", "init", "initialized", "notstarted", "backlog", "planned", "requested"},
	reconcile.TaskAssigned: {"assigned", "claimed", "claiming", "dispatched", "dequeued", "leased", "starting", "provisioning",
		"preparing", "reserved", "acquired", "launching", "booting", "allocating", "creating"},
	reconcile.TaskRunning: {"running", "active", "executing", "inprogress", "processing", "started", "doing", "working", "busy",
		"ongoing", "run"},
	reconcile.TaskCompleted: {"completed", "complete", "done", "succeeded", "success", "successful", "finished", "passed"},
	reconcile.TaskFailed: {"failed", "failure", "error", "errored", "crashed", "discarded", "dead", "timedout", "timeout", "expired",
		"rejected", "killed", "lost"},
	reconcile.TaskStopped: {"cancelled", "canceled", "stopped", "aborted", "terminated", "revoked", "skipped", "abandoned", "deleted"},
	reconcile.TaskParked:  {"paused", "suspended", "parked", "sleeping", "archived", "hibernated"},
	// Who is being stopped has a sandbox that nobody should judge by its silence.
	reconcile.TaskWaiting: {"waiting", "blocked", "onhold", "waitingforinput", "awaitinginput", "awaitingapproval", "needsinput",
		"cancelling", "canceling", "aborting", "stopping", "terminating"},
}

// stateOrder is the order of a task's life.
var stateOrder = []reconcile.TaskState{reconcile.TaskPending, reconcile.TaskAssigned, reconcile.TaskRunning, reconcile.TaskWaiting,
	reconcile.TaskParked, reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped}

// stateOf is what a status means, [reconcile.TaskUnknown] where that is not clear.
func stateOf(status string) reconcile.TaskState {
	word := flat(status)
	for _, state := range stateOrder {
		if slices.Contains(stateWords[state], word) {
			return state
		}
	}
	return reconcile.TaskUnknown
}

// A fieldRule says by which names a field of a task is recognised, the best first.
type fieldRule struct {
	field string
	names []string // flat
	fits  func(columnType string) bool
	weak  []string // names that may mean something else: mapped, and said
	why   string
}

// fieldRules are in the order of a config.
var fieldRules = []fieldRule{
	{field: "sandbox", fits: func(t string) bool { return isText(t) || t == "uuid" },
		names: []string{"sandboxid", "sandbox", "containerid", "machineid", "vmid", "devboxid", "sandboxname", "containername", "podname"},
		weak:  []string{"instanceid", "runnerid", "externalid", "environmentid", "workspaceid", "providerid"},
		why:   "names the sandbox of a task"},
	{field: "template", fits: isText, names: []string{"template", "templateid", "templatename", "imagename", "snapshotid"},
		weak: []string{"image", "snapshot"}, why: "what its sandbox is made from"},
	{field: "tenant", fits: isKey, names: []string{"tenantid", "orgid", "organizationid", "teamid", "accountid", "customerid"},
		why: "whose it is: one tenant's troubles are kept apart from another's"},
	{field: "session", fits: func(t string) bool { return isText(t) || t == "uuid" },
		names: []string{"conversationid", "agentsessionid", "sessionid"}, why: "changes when a task is handed out again"},
	{field: "worker", fits: isText, names: []string{"workerid", "lockedby", "claimedby"}, why: "who works at it"},
	{field: "created_at", fits: isMoment, names: []string{"createdat", "createdon", "created", "insertedat", "enqueuedat", "queuedat",
		"submittedat", "datecreated", "creationtime"}, why: "when it was made"},
	{field: "assigned_at", fits: isMoment, names: []string{"assignedat", "claimedat", "leasedat", "dispatchedat", "reservedat", "lockedat"},
		why: "when a worker took it"},
	{field: "started_at", fits: isMoment, names: []string{"startedat", "startedon", "starttime", "started", "attemptedat", "runstartedat"},
		why: "when the work began"},
	{field: "heartbeat_at", fits: isMoment, names: []string{"heartbeatat", "lastheartbeatat", "lastheartbeat", "heartbeat", "lastpingat"},
		why: "the last sign of life of its worker"},
	{field: "activity_at", fits: isMoment, names: []string{"lastactivityat", "lastactivity", "lastactiveat", "lastusedat"},
		why: "the last work that was seen"},
	{field: "updated_at", fits: isMoment, names: []string{"updatedat", "updatedon", "modifiedat", "updated", "lastmodified", "modifiedon"},
		why: "when the row changed last"},
	{field: "ended_at", fits: isMoment, names: []string{"completedat", "finishedat", "endedat", "finalizedat", "completedon", "endtime", "finished"},
		why: "when it was over"},
	{field: "due_at", fits: isMoment, names: []string{"scheduledat", "runat", "startafter", "scheduledfor", "nextrunat", "eta", "availableat"},
		why: "it need not begin before"},
	{field: "deleted_at", fits: isMoment, names: []string{"deletedat"}, why: "such rows are over"},
	{field: "error", fits: isText, names: []string{"errormessage", "error", "lasterror", "failurereason", "errortext", "failreason"},
		why: "says why it failed"},
	{field: "attempts", fits: isInteger, names: []string{"attempts", "attempt", "retrycount", "retries", "attemptcount"},
		why: "how often it was tried"},
	{field: "max_attempts", fits: isInteger, names: []string{"maxattempts", "maxretries", "retrylimit"}, why: "how often it may be tried"},
}

// openRules are fields that are never mapped by their name alone: what rests on them ends sandboxes.
var openRules = []fieldRule{
	{field: "deadline_at", fits: isMoment, names: []string{"deadlineat", "deadline", "expiresat", "timeoutat", "dueby"},
		why: "looks like a deadline; a date may also only order a queue, and whoever is past a deadline is ended"},
	{field: "timeout", fits: func(t string) bool { return isInteger(t) || t == "interval" },
		names: []string{"timeoutseconds", "timeout", "maxduration", "maxdurationseconds", "expirein", "timeoutsecs"},
		why:   "looks like a time limit; whoever is past it is ended"},
	{field: "keep_alive_until", fits: isMoment, names: []string{"keepaliveuntil"}, why: "keeps a sandbox after its task is over"},
	{field: "provider", fits: isText, names: []string{"provider", "sandboxprovider", "sandboxtype"},
		why: "must hold the names of the entries under providers"},
}

// match is the column that a rule recognises, and whether by a weak name.
func (r *fieldRule) match(t *Table, taken map[string]bool) (c *Column, weak bool) {
	for i, list := range [][]string{r.names, r.weak} {
		for _, name := range list {
			for k := range t.Columns {
				if c := &t.Columns[k]; flat(c.Name) == name && r.fits(c.Type) && !taken[c.Name] {
					return c, i == 1
				}
			}
		}
	}
	return nil, false
}

// statusNames are the names of columns that hold a status, the best first.
var statusNames = []string{"status", "state", "taskstatus", "jobstatus", "runstatus", "statetype", "executionstatus", "phase"}

// typeNames are the names of columns that hold the type of an event.
var typeNames = []string{"eventtype", "event", "type", "kind", "eventname", "name"}

// wordColumns are the columns whose values may be statuses or types of events.
func (t *Table) wordColumns() (out []Column) {
	for _, c := range t.Columns {
		status := slices.Contains(statusNames, flat(c.Name)) && (isText(c.Type) || len(c.Labels) > 0)
		event := t.likeEvents() && slices.Contains(typeNames, flat(c.Name)) && isText(c.Type)
		if status || event {
			out = append(out, c)
		}
	}
	return out
}

func (t *Table) likeEvents() bool {
	return slices.ContainsFunc(tokens(t.Name), func(w string) bool { return w == "event" || w == "events" })
}

// said are texts in a list, for a sentence.
func said(list []string) string { return strings.Join(list, ", ") }
