package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/client"
)

// TestGeneratedClient: the client that is generated from the document that a server serves reads what the server knows,
// asks in an operator's name, hears what happens, and is told why it may not.
func TestGeneratedClient(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(2)
	a.beat(ws)
	orphan, held := a.box(nobody, time.Minute), a.box(nobody, time.Minute)
	a.operatorKey(settings{mode: "observe", more: quickly})
	a.once(0)
	p, stop := a.securePage()
	defer stop()
	reads := a.client(p, "--reason", "reads")
	acts := a.client(p, "--scope", "act", "--reason", "acts", "--for", "1h")
	ctx := t.Context()

	status, err := reads.GetStatusWithResponse(ctx)
	if err := client.Check(status, err); err != nil || *status.JSON200.Installation != "test" || status.JSON200.Incidents != 0 {
		t.Fatalf("status: %v, %+v", err, status)
	}
	seen := map[string]bool{}
	limit, cursor := 1, (*string)(nil)
	for { // part by part
		part, err := reads.GetSandboxesWithResponse(ctx, &client.GetSandboxesParams{Limit: &limit, Cursor: cursor})
		if err := client.Check(part, err); err != nil {
			t.Fatal(err)
		}
		for _, one := range part.JSON200.Items {
			seen[one.ID] = true
		}
		if cursor = part.JSON200.Next; cursor == nil {
			break
		}
	}
	if len(seen) != 4 || !seen[ws[0].sandbox] || !seen[orphan.ID] {
		t.Errorf("sandboxes in parts of one: %v, want the 4 that there are", seen)
	}
	history, err := reads.GetTasksIDWithResponse(ctx, ws[0].task)
	if err := client.Check(history, err); err != nil || history.JSON200 == nil {
		t.Errorf("a task's history: %v", err)
	}
	missing, err := reads.GetActionsIDWithResponse(ctx, "none")
	if err := client.Check(missing, err); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("an action that is none: %v", err)
	}

	heard := make(chan client.CloudEvent, 1)
	listens, hush := context.WithTimeout(ctx, 5*time.Minute)
	defer hush()
	begun := make(chan struct{})
	go func() {
		kind := "sandkeeper.request"
		for e, err := range client.Events(listens, beginning{acts, begun}, &client.GetEventsParams{Type: &kind}) {
			if err == nil {
				heard <- e
			}
			return
		}
	}()
	<-begun
	target, span := "sandbox:"+held.ID, 3600
	hold := client.Act{Target: &target, Reason: "evidence", For: &span}
	refused, err := reads.PostActsVerbWithResponse(ctx, client.PostActsVerbParamsVerbHold, hold)
	if err := client.Check(refused, err); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a token that reads may ask for a hold: %v", err)
	}
	done, err := acts.PostActsVerbWithResponse(ctx, client.PostActsVerbParamsVerbHold, hold)
	if err := client.Check(done, err); err != nil || !strings.Contains(done.JSON202.Said, held.ID) {
		t.Fatalf("a hold: %v, %+v", err, done)
	}
	select {
	case e := <-heard:
		if e.Data.Event == nil || !strings.Contains(e.Data.Event.Subject.ID, held.ID) {
			t.Errorf("heard of %+v, want the hold", e)
		}
	case <-listens.Done():
		t.Error("nothing was heard of the hold")
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.holds WHERE author LIKE 'ana (token %'"); n != 1 {
		t.Errorf("%d holds are recorded in the user's name, want 1", n)
	}
	a.keeps(ws)
}

// A beginning tells when a stream of events has begun.
type beginning struct {
	client.ClientInterface
	begun chan struct{}
}

func (b beginning) GetEvents(ctx context.Context, p *client.GetEventsParams, editors ...client.RequestEditorFn) (*http.Response, error) {
	defer close(b.begun)
	return b.ClientInterface.GetEvents(ctx, p, editors...)
}

// client is one with a token of ana.
func (a *arena) client(p programClient, args ...string) *client.ClientWithResponses {
	a.Helper()
	header, _ := a.token(append([]string{"ana"}, args...)...)
	c, err := client.New(p.base, strings.TrimPrefix(header, "Bearer "), client.WithHTTPClient(p.http))
	if err != nil {
		a.Fatal(err)
	}
	return c
}
