package tasks

import "testing"

// TestEventsAtTheEndOfTime: an event at no time at all is no sign of life, and hides none.
func TestEventsAtTheEndOfTime(t *testing.T) {
	w := omoiosWorld(t)
	w.running("1")
	w.exec(`INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at) VALUES
		('box-1', 'agent.heartbeat', '2026-02-01 09:01Z'), ('box-1', 'agent.heartbeat', 'infinity'),
		('box-1', 'agent.tool_use', '-infinity')`)
	task := w.one(id("1"))
	if got, want := task.Events.Newest(), utc("2026-02-01 09:01:00"); !got.Equal(want) {
		t.Errorf("the newest event is of %s, want %s", got, want)
	}
}
