package serve

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/asked"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/api"
	"github.com/sandkeeper/sandkeeper/web/fresh"
)

// status sums up how things are.
func (s *documents) status(ctx context.Context, _ *http.Request) (api.Status, error) {
	now, err := s.overview(ctx)
	if err != nil {
		return api.Status{}, err
	}
	policy := s.Policy()
	out := api.StatusOf(&now.Overview)
	of := s.process()
	head := web.StatusOf(&now, policy)
	out.Agreement, out.Level, out.Word = head.Agrees, head.Level, head.Word
	out.Sentence, out.Next = head.Sentence, head.Next
	out.Version, out.Daemon, out.ConfigError = of.Version, of.Doing, of.ConfigError
	out.Ready = now.Unready == nil && !now.Overview.Fresh && fresh.PassesCome(&now.Overview, policy.Quick, policy.Full)
	return out, nil
}

// chose answers with a part of what somebody chose.
func chose[From, To any](s *documents,
	read func(Records, context.Context, reconcile.Chosen) ([]From, reconcile.Cursor, error),
	of func(*From) To, check func(reconcile.Cursor) error,
) func(context.Context, *http.Request) (api.List[To], error) {
	return func(ctx context.Context, r *http.Request) (api.List[To], error) {
		c, err := chosen(r)
		if err == nil && check != nil {
			err = check(c.After)
		}
		if err != nil {
			return api.List[To]{}, err
		}
		rows, next, err := read(s.Records, ctx, c)
		if err == nil && len(rows) == 0 {
			policy := s.Policy()
			err = wrongFilter(asked.Unheard(&c, policy.ProviderNames(), s.reader.read(ctx).Overview.Templates))
		}
		if err != nil {
			return api.List[To]{}, err
		}
		out := api.ListOf(rows, of)
		out.Next = cursor(next)
		return out, nil
	}
}

func (s *documents) action(ctx context.Context, r *http.Request) (api.Action, error) {
	a, err := s.Records.Action(ctx, r.PathValue("id"))
	return api.ActionOf(&a), err
}

func (s *documents) incident(ctx context.Context, r *http.Request) (api.Incident, error) {
	i, err := s.Records.Incident(ctx, r.PathValue("id"))
	out := []api.Incident{api.IncidentOf(&i)}
	s.tense(ctx, out)
	return out[0], err
}

func (s *documents) incidents(ctx context.Context, r *http.Request) (api.List[api.Incident], error) {
	out, err := chose(s, Records.BrowseIncidents, api.IncidentOf, nil)(ctx, r)
	s.tense(ctx, out.Items)
	return out, err
}

// tense says the cause of each in the past, with both times, where it is over by now.
func (s *documents) tense(ctx context.Context, all []api.Incident) {
	if len(all) == 0 {
		return
	}
	now := s.reader.read(ctx)
	for i := range all {
		one := all[i]
		all[i].Cause = (&reconcile.Incident{Provider: one.Provider, Template: one.Template, Cause: one.Cause,
			FirstSeen: one.FirstSeen, LastSeen: one.LastSeen, ClosedAt: one.ClosedAt}).CauseSaid(
			now.Overview.Now, now.Overview.Templates)
	}
}

func (s *documents) task(ctx context.Context, r *http.Request) (api.History, error) {
	h, err := s.Records.Subject(ctx, reconcile.TaskSubject(r.PathValue("id")))
	return api.HistoryOf(&h), err
}

func (s *documents) sandbox(ctx context.Context, r *http.Request) (api.History, error) {
	h, err := s.Records.Subject(ctx, reconcile.BoxSubject(reconcile.Ref{
		Provider: r.PathValue("provider"), ID: r.PathValue("id"),
	}))
	return api.HistoryOf(&h), err
}

func (s *documents) passes(ctx context.Context, r *http.Request) (api.List[api.Pass], error) {
	c, err := chosen(r)
	if err == nil {
		err = numbered(c.After)
	}
	if err != nil {
		return api.List[api.Pass]{}, err
	}
	below, _ := strconv.ParseInt(c.After.Key, 10, 64) // 0 of none
	rows, err := s.Records.PassesBelow(ctx, below, c.Most+1)
	if err != nil {
		return api.List[api.Pass]{}, err
	}
	next := ""
	if len(rows) > c.Most {
		rows = rows[:c.Most]
		next = cursor(reconcile.Cursor{Key: strconv.FormatInt(rows[c.Most-1].ID, 10)})
	}
	out := api.ListOf(rows, api.PassOf)
	out.Next = next
	return out, nil
}

func (s *documents) pass(ctx context.Context, r *http.Request) (api.Pass, error) {
	number, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
	if err != nil || number < 1 {
		return api.Pass{}, reconcile.ErrNotFound
	}
	rows, err := s.Records.PassesBelow(ctx, number+1, 1)
	if err == nil && (len(rows) == 0 || rows[0].ID != number) {
		err = reconcile.ErrNotFound
	}
	if err != nil {
		return api.Pass{}, err
	}
	return api.PassOf(&rows[0]), nil
}

func (s *documents) sources(ctx context.Context, _ *http.Request) (api.List[api.Source], error) {
	now, err := s.overview(ctx)
	return api.ListOf(now.Overview.Sources, api.SourceOf), err
}

func (s *documents) rules(ctx context.Context, _ *http.Request) (api.List[api.Rule], error) {
	now, err := s.overview(ctx)
	policy := s.Policy()
	return api.List[api.Rule]{Items: api.RulesOf(&now.Overview, &policy)}, err
}

func (s *documents) rule(ctx context.Context, r *http.Request) (api.Rule, error) {
	all, err := s.rules(ctx, r)
	if err != nil {
		return api.Rule{}, err
	}
	at := slices.IndexFunc(all.Items, func(one api.Rule) bool { return one.Name == r.PathValue("name") })
	if at < 0 {
		return api.Rule{}, reconcile.ErrNotFound
	}
	return all.Items[at], nil
}

func (s *documents) holds(ctx context.Context, _ *http.Request) (api.List[api.Hold], error) {
	now, err := s.overview(ctx)
	return api.ListOf(now.Overview.Controls.Holds, api.HoldOf), err
}

func (s *documents) pauses(ctx context.Context, _ *http.Request) (api.List[api.Pause], error) {
	now, err := s.overview(ctx)
	return api.ListOf(now.Overview.Controls.Pauses, api.PauseOf), err
}

func (s *documents) requests(ctx context.Context, r *http.Request) (api.List[api.Request], error) {
	c, err := chosen(r)
	if err == nil {
		err = numbered(c.After)
	}
	if err != nil {
		return api.List[api.Request]{}, err
	}
	rows, next, err := s.Records.OperatorEvents(ctx, c.After, c.Most)
	if err != nil {
		return api.List[api.Request]{}, err
	}
	out := api.ListOf(rows, api.RequestOf)
	out.Next = cursor(next)
	return out, nil
}
