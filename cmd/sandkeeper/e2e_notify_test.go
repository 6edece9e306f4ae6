package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
)

// A telling is one thing that a receiver was told.
type telling struct{ Key, Kind, Status, Title, Text string }

// tellings are all that a receiver was told, in its order.
func tellings(t *testing.T, r *webhooktest.Receiver) (all []telling) {
	t.Helper()
	for _, heard := range r.Told() {
		var event struct{ Data struct{ Alerts []telling } }
		if err := json.Unmarshal([]byte(heard.Body), &event); err != nil {
			t.Fatal(err)
		}
		all = append(all, event.Data.Alerts...)
	}
	return all
}

// TestNotificationsOfTwoReplicas: of an incident and of a hold that ends soon each receiver is told what it wants to
// hear, by one of two replicas, once, and that it is over.
func TestNotificationsOfTwoReplicas(t *testing.T) {
	all, pager := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
	a := newArena(t, settings{more: quickly + fmt.Sprintf(`
alerts:
  notify:
    - {url: %q, name: everybody}
    - {url: %q, name: pager, severity: critical, events: [incident, hold-ends], secret: %q}`, all.URL, pager.URL, webhooktest.Key)})
	a.beat(a.working(3))
	for range 8 {
		a.box(a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute}), 4*time.Minute)
	}
	a.daemon("run", "--migrate")
	a.daemon("run")
	a.hears(pager, "incident", "firing")
	a.hears(all, "incident", "firing")
	a.must("hold", "label:ticket=4711", "--for", "30m", "--reason", "support looks at it")
	a.hears(all, "hold-ends", "firing")

	id := a.incidents()[0].ID
	a.must("release", "incident:"+id, "--reason", "the snapshot is active again")
	a.must("unhold", "label:ticket=4711", "--reason", "done")
	a.reaches("the incident is closed", func() bool {
		a.sql("BEGIN; SET LOCAL session_replication_role = replica; UPDATE sandkeeper.incidents SET " +
			"last_seen = last_seen - interval '3 hours', first_seen = first_seen - interval '3 hours' WHERE closed_at IS NULL; COMMIT")
		return a.incidents()[0].State == "closed"
	})
	a.hears(pager, "incident", "resolved")
	a.hears(all, "incident", "resolved")
	a.hears(all, "hold-ends", "resolved")
	for _, r := range []*webhooktest.Receiver{all, pager} {
		seen := map[telling]bool{}
		for _, one := range tellings(t, r) {
			if seen[one] {
				t.Errorf("told twice: %+v", one)
			}
			seen[one] = true
		}
	}
	for _, one := range tellings(t, pager) {
		if one.Kind != "incident" {
			t.Errorf("the pager, which wants what is critical, was told of %+v", one)
		}
	}
	if told := pager.Told(); !told[0].Verify(webhooktest.Key) || !strings.Contains(told[0].Body, id) {
		t.Errorf("the pager was told %+v, want the incident, signed", told[0])
	}
}

func (a *arena) hears(r *webhooktest.Receiver, kind, status string) {
	a.Helper()
	a.reaches(kind+" is told as "+status, func() bool {
		for _, one := range tellings(a.T, r) {
			if one.Kind == kind && one.Status == status {
				return true
			}
		}
		return false
	})
}
