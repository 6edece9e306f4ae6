package config

// meaning says what a mapped word is for.
type meaning struct{ word, is string }

// fieldMeanings are of the keys of mappings, which have no sentence in the schema.
var fieldMeanings = map[string][]meaning{
	"task fields": {
		{"id", "The task's id: a column, several as `(a, b)`, or an expression. Needed."},
		{"status", "Its status, in the platform's words, which `tasks.statuses` says the meaning of. Needed."},
		{"state", "One of the states below, by an expression, where no single word tells it. It decides then, and not `tasks.statuses`."},
		{"sandbox", "What names its sandbox: an id, a name or a label's value, as `link.sandbox` says."},
		{"provider", "On which engine it runs: the name of an entry, or what its `rows` hold."},
		{"template", "What its sandbox is made from."},
		{"session", "The worker's session; another one is a new attempt."},
		{"worker", "The version of the worker."},
		{"error", "The error that the row keeps."},
		{"tenant", "Whose it is."},
		{"trace", "The trace of its own work."},
		{"created_at", "When the row was made."},
		{"assigned_at", "When it was handed out."},
		{"started_at", "When its worker started, in this attempt."},
		{"state_since", "When it got its status."},
		{"heartbeat_at", "When the worker itself last said that it is there."},
		{"activity_at", "When the worker last did something."},
		{"updated_at", "When the row last changed, whoever changed it."},
		{"ended_at", "When it was over."},
		{"deleted_at", "When a user deleted it: such a row is over, and counts as stopped."},
		{"due_at", "When it may begin: it is not late before."},
		{"timeout", "How long it may run, as an interval."},
		{"fails_at", "When it has failed, if it is not over by then."},
		{"deadline_at", "A time of which nobody knows whether it ends anything: it is told, and ends nothing."},
		{"sleeps_at", "When the platform puts its sandbox to sleep."},
		{"keep_alive_until", "Until when its sandbox is kept after it was over."},
		{"attempts", "How many attempts there were."},
		{"max_attempts", "How many there may be."},
		{"activity_mark", "What changes with the work, where no time does."},
		{"attempt_mark", "What changes when it is begun anew, where neither a count nor a session does."},
		{"sandboxes", "How many sandboxes at once are usual for it."},
	},
	"states": {
		{"pending", "It waits for a worker. Live."},
		{"assigned", "It was handed out, and the worker has not started. Live."},
		{"running", "A worker is at it. Live."},
		{"completed", "It is over, and well."},
		{"failed", "It is over by a failure."},
		{"stopped", "It is over because a person said so: its sandbox is to end at once."},
		{"parked", "It rests: its sandbox is kept, asleep or gone."},
		{"waiting", "It waits by design, with a sandbox or without."},
	},
	"event fields": {
		{"sandbox", "The sandbox that sent it, as the task's `sandbox` names it."},
		{"task", "The task that it is of, where events do not name sandboxes."},
		{"type", "What happened, in the platform's words. Needed."},
		{"at", "When. Needed."},
		{"data", "Further data, as json."},
	},
}

// mapped tells the words of the sections that are mappings.
func (r *reference) mapped() {
	r.Helper()
	for _, s := range []struct{ title, keys, says string }{
		{"`tasks.columns`", "task fields", "Each is a column, or an SQL expression in parentheses. Map what is true, and leave out the rest."},
		{"`tasks.statuses`", "states", "Each is a list of the platform's own words. A word in none of them is shown, and never judged."},
		{"`events.columns`", "event fields", "Events are the worker's own: one that the platform writes of a task looks like life."},
	} {
		r.printf("\n## %s\n\n%s\n\n| key | what it is |\n|---|---|\n", s.title, s.says)
		told := map[string]bool{}
		for _, m := range fieldMeanings[s.keys] {
			r.printf("| `%s` | %s |\n", m.word, m.is)
			told[m.word] = true
		}
		for _, word := range mapKeys[s.keys] {
			if !told[word] {
				r.Errorf("nothing says what %s %s is", s.title, word)
			}
			delete(told, word)
		}
		for word := range told {
			r.Errorf("%s has no %s", s.title, word)
		}
	}
}
