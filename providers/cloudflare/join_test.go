package cloudflare

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// object is the id of the Durable Object of a number.
func object(n int) string { return fmt.Sprintf("%064x", n) }

// named is a record whose object goes by another name: do-1 behind sb-1.
func named(n int) string {
	return fmt.Sprintf(`{"id":"sb-%d","status":"running","container":"running","actor_id":"%s"}`, n, object(n))
}

func shownAs(n int, name, state string) string {
	return fmt.Sprintf(`{"id":"%s","name":"%s","status":{"state":"%s"}}`, object(n), name, state)
}

func listOf(records ...string) reply {
	return reply{200, js, `{"sandboxes":[` + strings.Join(records, ",") + `]}`}
}

func instancesOf(all ...string) reply {
	return reply{200, js, `{"success":true,"result":[` + strings.Join(all, ",") + `]}`}
}

// pairs are both halves of sandboxes 1 and 2, whose objects go by other names; the control
// plane may end containers.
func pairs(t *testing.T) (*Provider, *script) {
	t.Helper()
	s := &script{answers: map[string]reply{
		"GET /list": listOf(named(1), named(2)), "GET /sb-1": {200, js, named(1)}, "GET /sb-2": {200, js, named(2)},
		"GET /do-2":                          {404, js, `{"error":"x","code":"sandbox_not_found"}`},
		"GET /app":                           {200, js, application1},
		"GET /app/instances-v2":              instancesOf(shownAs(1, "do-1", "running"), shownAs(2, "do-2", "running")),
		"GET /app/instances/" + object(2):    {200, js, `{"success":true,"result":` + shownAs(2, "do-2", "running") + `}`},
		"DELETE /app/instances/" + object(2): {200, js, `{"success":true}`},
	}}
	p, err := New(entry.Entry{Name: "lab", URL: "http://lab.test", Token: "control-secret", Owns: entry.Owns{NamePrefix: "do-"},
		Extra: map[string]string{keyAccount: "acct", keyApplication: "app", keyInstances: "true",
			keyWorkerURL: "http://lab.test/api", keyWorkerToken: "worker-secret"}},
		entry.Options{Transport: wiretest.Transport(s)})
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

func listedIDs(t *testing.T, p *Provider) (ids []string, listing reconcile.Listing) {
	t.Helper()
	listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, listing
}

// A list that lacks a record which the Worker still has is not whole, and its container is not
// one without a record. Only when the Worker says that the record is gone it is.
func TestListLacksARecord(t *testing.T) {
	gone := reply{404, js, `{"error":"sandbox not found"}`}
	for name, test := range map[string]struct {
		change   map[string]reply
		want     []string
		complete bool
		missing  string
	}{
		"nothing is lacking": {nil, []string{"sb-1", "sb-2"}, true, ""},
		"one is lacking":     {map[string]reply{"GET /list": listOf(named(1))}, []string{"sb-1"}, false, "lacks sb-2, which it has"},
		"all are lacking":    {map[string]reply{"GET /list": listOf()}, nil, false, "lacks sb-1, which it has"},
		"one is gone":        {map[string]reply{"GET /list": listOf(named(1)), "GET /sb-2": gone}, []string{"sb-1", "do-2"}, true, ""},
		"nobody knows": {map[string]reply{"GET /list": listOf(named(1)), "GET /sb-2": {500, js, "{}"}}, []string{"sb-1"}, false,
			"the Worker's list (500"},
		"its record is another container's": {map[string]reply{"GET /list": listOf(named(1)),
			"GET /sb-2": {200, js, strings.Replace(named(2), object(2), object(3), 1)}}, []string{"sb-1", "do-2"}, true, ""},
		"its container is over": {map[string]reply{"GET /list": listOf(named(1)),
			"GET /app/instances-v2": instancesOf(shownAs(1, "do-1", "running"), shownAs(2, "do-2", "stopped"))}, []string{"sb-1"}, true, ""},
	} {
		p, s := pairs(t)
		listedIDs(t, p)
		for call, answer := range test.change {
			s.answers[call] = answer
		}
		ids, listing := listedIDs(t, p)
		if !slices.Equal(ids, test.want) || listing.Complete != test.complete ||
			!strings.Contains(strings.Join(listing.Missing, " "), test.missing) {
			t.Errorf("%s: List = %v, %+v; want %v, complete %t, %q", name, ids, listing, test.want, test.complete, test.missing)
		}
	}
}

// Of a container of ours that was never seen with a record, the Worker is asked for one of its
// name: a process that does not live long has seen little, and the record may be younger than
// the list.
func TestListLacksANewRecord(t *testing.T) {
	itself := fmt.Sprintf(`{"id":"do-2","status":"running","container":"running","labels":{"its":"own"},"actor_id":"%s"}`, object(2))
	for name, test := range map[string]struct {
		answer   reply
		prefix   string
		complete bool
		shown    int  // sandboxes
		record   bool // it is shown with its record
		asked    bool
	}{
		"it has one":                {reply{200, js, itself}, "do-", true, 2, true, true},
		"that tells no object":      {reply{200, js, `{"id":"do-2","status":"running","labels":{"its":"own"}}`}, "do-", true, 2, true, true},
		"it has none":               {reply{404, js, `{"error":"sandbox not found"}`}, "do-", true, 2, false, true},
		"it is another container's": {reply{200, js, strings.Replace(itself, object(2), object(3), 1)}, "do-", true, 2, false, true},
		"nobody knows":              {reply{500, js, "{}"}, "do-", false, 1, false, true},
		"the container is not ours": {reply{200, js, itself}, "mine-", true, 2, false, false},
	} {
		p, s := pairs(t)
		p.entry.Owns.NamePrefix = test.prefix
		s.answers["GET /list"], s.answers["GET /do-2"] = listOf(named(1)), test.answer
		var all []reconcile.Sandbox
		listing, err := p.List(t.Context(), func(page []reconcile.Sandbox) error { all = append(all, page...); return nil })
		record := slices.ContainsFunc(all, func(s reconcile.Sandbox) bool { return s.ID == "do-2" && s.Labels["its"] == "own" })
		if err != nil || listing.Complete != test.complete || len(all) != test.shown || record != test.record ||
			slices.Contains(s.calls, "GET /do-2") != test.asked {
			t.Errorf("%s: List = %+v, %+v, %v after %v; want %d, with the record %t, complete %t", name, all, listing, err,
				s.calls, test.shown, test.record, test.complete)
		}
	}
}

// Only so many names are asked for in one listing. The others are shown as they are.
func TestListAsksForFewNames(t *testing.T) {
	p, s := pairs(t)
	var containers []string
	for n := range 2 * mostDoubts {
		containers = append(containers, shownAs(n, fmt.Sprint("do-", n), "running"))
		s.answers[fmt.Sprint("GET /do-", n)] = reply{404, js, `{"error":"sandbox not found"}`}
	}
	s.answers["GET /list"], s.answers["GET /app/instances-v2"] = listOf(), instancesOf(containers...)
	if ids, listing := listedIDs(t, p); !listing.Complete || len(ids) != 2*mostDoubts || len(s.calls) != 2+mostDoubts {
		t.Errorf("List = %v, %+v after %d calls; want all after %d", ids, listing, len(s.calls), 2+mostDoubts)
	}
}

// So many records are asked for in one listing, and the others in the next.
func TestListLacksManyRecords(t *testing.T) {
	p, s := pairs(t)
	var records, containers []string
	for n := range mostDoubts + 1 {
		records, containers = append(records, named(n)), append(containers, shownAs(n, fmt.Sprint("do-", n), "running"))
		s.answers[fmt.Sprint("GET /sb-", n)] = reply{404, js, `{"error":"sandbox not found"}`}
	}
	s.answers["GET /list"], s.answers["GET /app/instances-v2"] = listOf(records...), instancesOf(containers...)
	listedIDs(t, p)
	s.answers["GET /list"], s.calls = listOf(), nil
	if ids, listing := listedIDs(t, p); listing.Complete || len(ids) != 0 || len(s.calls) != 2+mostDoubts {
		t.Errorf("List = %v, %+v after %d calls; want it incomplete", ids, listing, len(s.calls))
	}
	if ids, listing := listedIDs(t, p); !listing.Complete || len(ids) != mostDoubts+1 {
		t.Errorf("List = %v, %+v; want all, without records", ids, listing)
	}
}

// What is remembered goes with record and container.
func TestRecordsAreForgotten(t *testing.T) {
	p, s := pairs(t)
	listedIDs(t, p)
	s.answers["GET /list"], s.answers["GET /app/instances-v2"] = listOf(named(1)), instancesOf(shownAs(1, "do-1", "running"))
	listedIDs(t, p)
	_, first := p.actors.Load(object(1))
	_, second := p.actors.Load(object(2))
	if !first || second {
		t.Errorf("remembered %t and %t, want what is there and not what is gone", first, second)
	}
}

// A container is ended by the control plane only when no record is found: neither one that was
// seen before, nor one in the registry.
func TestKillLooksForTheRecord(t *testing.T) {
	container := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "do-2"}, Owned: true, State: reconcile.SandboxRunning}
	for name, test := range map[string]struct {
		list  reply
		learn func(*Provider) error
		want  reconcile.Termination
		wrong bool
	}{
		"none has it":                {listOf(named(1)), nil, reconcile.TerminateAccepted, false},
		"the list has it":            {listOf(named(1), named(2)), nil, reconcile.TerminateChanged, false},
		"the list is not known":      {reply{500, js, "{}"}, nil, "", true},
		"it was seen, got by id":     {listOf(), func(p *Provider) error { _, err := p.Get(t.Context(), "sb-2"); return err }, reconcile.TerminateChanged, false},
		"the list has it, by name":   {listOf(`{"id":"do-2","status":"running"}`), nil, reconcile.TerminateChanged, false},
		"it was seen, and forgotten": {listOf(), func(p *Provider) error { _, err := p.Get(t.Context(), "sb-2"); p.actors.Clear(); return err }, reconcile.TerminateAccepted, false},
	} {
		p, s := pairs(t)
		if test.learn != nil {
			if err := test.learn(p); err != nil {
				t.Fatal(err)
			}
		}
		s.answers["GET /list"] = test.list
		how, err := p.Terminate(t.Context(), container)
		killed := slices.Contains(s.calls, "DELETE /app/instances/"+object(2))
		if how != test.want || (err != nil) != test.wrong || killed != (how == reconcile.TerminateAccepted) {
			t.Errorf("%s: Terminate = %q, %v, killed %t; want %q", name, how, err, killed, test.want)
		}
	}
	p, _ := pairs(t)
	if _, err := p.Get(t.Context(), "sb-2"); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Get(t.Context(), "do-2"); err == nil || errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get(do-2) = %+v, %v; want an error that does not say gone: that is sb-2", s, err)
	}
}

// Since when a record is as it is the registry does not say. When its container changed is not that,
// unless the container is so too.
func TestSinceWhen(t *testing.T) {
	for name, test := range map[string]struct {
		record, container string
		known             bool
	}{
		"both failed":               {"failed", "failed", true},
		"only the record failed":    {"failed", "stopped", false},
		"only the record is ending": {"terminating", "running", false},
		"both run":                  {"running", "running", true},
		"it comes up":               {"provisioning", "running", true},
	} {
		p, s := pairs(t)
		s.answers["GET /list"] = listOf(strings.Replace(named(1), `"status":"running"`, `"status":"`+test.record+`"`, 1))
		s.answers["GET /app/instances-v2"] = instancesOf(strings.Replace(shownAs(1, "do-1", test.container), `"state"`,
			`"updated_at":"2026-11-01T12:00:00Z","state"`, 1))
		_, err := p.List(t.Context(), func(page []reconcile.Sandbox) error {
			for _, s := range page {
				if s.UpdatedAt.IsZero() == test.known {
					t.Errorf("%s: listed as %+v, changed at %s; want that known %t", name, s, s.UpdatedAt, test.known)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Two halves that do not belong together are told.
func TestCheckTellsOfHalvesThatDoNotFit(t *testing.T) {
	for name, test := range map[string]struct {
		containers reply
		ok         bool
		says       string
	}{
		"all fit":          {instancesOf(shownAs(1, "do-1", "running"), shownAs(2, "do-2", "running")), true, "2 of 2"},
		"one fits":         {instancesOf(shownAs(1, "do-1", "running")), true, "1 of 2"},
		"one sleeps":       {instancesOf(shownAs(1, "do-1", "stopped")), true, "1 of 2"},
		"none fits":        {instancesOf(shownAs(7, "x", "running")), false, "0 of 2"},
		"nothing is shown": {instancesOf(), false, "0 of 2"},
		"it breaks":        {reply{http.StatusForbidden, js, `{}`}, false, "not compared"},
	} {
		p, s := pairs(t)
		s.answers["GET /app/instances-v2"] = test.containers
		lines := p.Check(t.Context())
		if last := lines[len(lines)-1]; last.What != "halves" || last.OK != test.ok || !strings.Contains(last.Said, test.says) {
			t.Errorf("%s: Check ends with %+v, want ok %t, %q", name, last, test.ok, test.says)
		}
	}
}
