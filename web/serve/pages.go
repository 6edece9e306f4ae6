package serve

import (
	"context"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Pages is what the pages besides the first one are made from: each asks for what it shows, and no more.
type Pages interface {
	Subject(ctx context.Context, id string) (reconcile.History, error)
	Findings(ctx context.Context, c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error)
	Actions(ctx context.Context, c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error)
	OperatorEvents(ctx context.Context, after reconcile.Cursor, most int) ([]reconcile.TimelineEvent, reconcile.Cursor,
		error)
	PassesBelow(ctx context.Context, below int64, most int) ([]reconcile.PassSeen, error)
	Incident(ctx context.Context, id string) (reconcile.Incident, error)
	BrowseIncidents(ctx context.Context, c reconcile.Chosen) ([]reconcile.Incident, reconcile.Cursor, error)
	Tasks(ctx context.Context, c reconcile.Chosen) ([]reconcile.TaskSeen, reconcile.Cursor, error)
	Sandboxes(ctx context.Context, c reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error)
	NewestAffected(ctx context.Context, id string, after reconcile.Cursor, most int) ([]reconcile.Verdict,
		reconcile.Cursor, error)
	Search(ctx context.Context, text string, most int) ([]reconcile.FoundSubject, error)
	Report(ctx context.Context, since time.Duration) ([]reconcile.RuleReport, error)
	Changed(ctx context.Context) (string, error)
	// Listen calls told when it listens, and whenever Changed may differ, until ctx ends or it cannot.
	Listen(ctx context.Context, told func(begun bool)) error
	Trends(ctx context.Context, slot time.Duration, slots int) (reconcile.Trends, error)
}

// What a page shows of a list at once.
const (
	mostOnPage = 50
	mostFound  = 50

	mostOfIncident = 20 // of its open findings; the rest is a link
)
