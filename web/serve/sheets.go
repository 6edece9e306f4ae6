package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/asked"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// pages are what people look at.
type pages struct {
	answers
	Ledger   Ledger
	Runbooks fs.FS
	reader   *reader
	printer  printer
	process  func() web.Process
	asker    *asker
}

// page answers with the status page, or with the part of it that changes. A ledger that
// cannot be read makes a page that says so, and a status that no proxy takes for well.
func (s *pages) page(w http.ResponseWriter, r *http.Request) {
	now := s.reader.read(r.Context())
	if now.Err != nil {
		s.Log.WarnContext(r.Context(), "page without the ledger", "err", now.Err)
	}
	status := http.StatusOK
	if now.Err != nil {
		status = http.StatusServiceUnavailable
	}
	made, err := s.printer.print(r.Context(), &now, s.process(),
		edition{r.URL.Query().Get("part") == "live", s.asker.standing(r).looker})
	if err != nil {
		s.notMade(w, r, err)
		return
	}
	made.send(w, r, status)
}

// A maker reads what a page is about and makes it.
type maker func(ctx context.Context, a *web.Asked) (templ.Component, error)

// show answers with a page besides the first one. What is not known is a 404 that says so; a ledger that cannot be read
// is a 503.
func (s *pages) show(w http.ResponseWriter, r *http.Request, what string, made maker) {
	reading := s.reader.read(r.Context())
	a := &web.Asked{Reading: &reading, Process: s.process(), Up: upFrom(r.URL.Path),
		Part: r.URL.Query().Get("part") == "live"}
	ctx, cancel := context.WithTimeoutCause(r.Context(), patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	err := reading.Err
	var page templ.Component
	if err == nil {
		page, err = made(ctx, a)
	}
	seen := r.WithContext(ui.LookedAtBy(r.Context(), s.asker.standing(r).looker))
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		s.html(w, seen, answer{http.StatusNotFound, web.UnknownPage(a, what)})
	case err != nil:
		s.Log.WarnContext(r.Context(), "page without the ledger", "page", r.URL.Path, "err", err)
		s.html(w, seen, answer{http.StatusServiceUnavailable, web.DownPage(a, err)})
	case a.Wrong != "":
		s.html(w, seen, answer{http.StatusBadRequest, page})
	default:
		s.html(w, seen, answer{http.StatusOK, page})
	}
}

// upFrom is the way from an address up to the first page.
func upFrom(path string) string {
	const deepest = 30 // a path of slashes alone would otherwise make an answer of megabytes
	return strings.Repeat("../", min(max(strings.Count(path, "/")-1, 0), deepest))
}

func (s *pages) task(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.show(w, r, "task "+id, func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		h, err := s.Ledger.Subject(ctx, reconcile.TaskSubject(id))
		return web.TaskPage(a, id, h), err
	})
}

func (s *pages) sandbox(w http.ResponseWriter, r *http.Request) {
	of := reconcile.Ref{Provider: r.PathValue("provider"), ID: r.PathValue("id")}
	s.show(w, r, "sandbox "+of.String(), func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		h, err := s.Ledger.Subject(ctx, reconcile.BoxSubject(of))
		return web.SandboxPage(a, of, h), err
	})
}

// list answers with a part of what somebody chose. What is misspelt is said, with the filter to put it right.
func list[T any](s *pages, w http.ResponseWriter, r *http.Request,
	read func(Pages, context.Context, reconcile.Chosen) ([]T, reconcile.Cursor, error),
	page func(*web.Asked, *reconcile.Chosen, web.Part[T]) templ.Component) {
	what := strings.Trim(r.URL.Path, "/")
	s.show(w, r, "these "+what, func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		c := chosenBy(r, what)
		if a.Wrong = reconcile.FirstOf(unknownQuery(r, what), asked.Misspelt(&c, what)); a.Wrong != "" {
			return page(a, &c, web.Part[T]{}), nil
		}
		found, next, err := read(s.Ledger, ctx, c)
		if len(found) == 0 {
			a.Wrong = asked.Unheard(&c, a.Process.Policy.ProviderNames(), a.Reading.Overview.Templates)
		}
		return page(a, &c, web.Part[T]{Rows: found, Next: cursor(next)}), err
	})
}

func (s *pages) findings(w http.ResponseWriter, r *http.Request) {
	list(s, w, r, Pages.Findings, web.FindingsPage)
}

func (s *pages) actions(w http.ResponseWriter, r *http.Request) {
	list(s, w, r, Pages.Actions, web.ActionsPage)
}

func (s *pages) incidents(w http.ResponseWriter, r *http.Request) {
	list(s, w, r, Pages.BrowseIncidents, web.IncidentsPage)
}

func (s *pages) tasks(w http.ResponseWriter, r *http.Request) {
	list(s, w, r, Pages.Tasks, web.TasksPage)
}

func (s *pages) sandboxes(w http.ResponseWriter, r *http.Request) {
	list(s, w, r, Pages.Sandboxes, web.SandboxesPage)
}

func (s *pages) incident(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.show(w, r, "incident "+id, func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		one, err := s.Ledger.Incident(ctx, id)
		if err != nil {
			return nil, err
		}
		affected, next, err := s.Ledger.NewestAffected(ctx, id, numberedAfter(r), web.MostAffected)
		if err != nil {
			return nil, err
		}
		open, after, err := s.Ledger.Findings(ctx, reconcile.Chosen{Incident: id, Most: mostOfIncident})
		return web.IncidentPage(a, &one, web.Part[reconcile.Verdict]{Rows: affected, Next: cursor(next)},
			web.Part[reconcile.FindingSeen]{Rows: open, Next: cursor(after)}), err
	})
}

func (s *pages) passes(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "passes", func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		below, _ := strconv.ParseInt(r.URL.Query().Get("below"), 10, 64) // what is no number begins with the newest
		all, err := s.Ledger.PassesBelow(ctx, max(below, 0), mostOnPage+1)
		return web.PassesPage(a, all[:min(len(all), mostOnPage)], len(all) > mostOnPage), err
	})
}

func (s *pages) pass(w http.ResponseWriter, r *http.Request) {
	said := r.PathValue("n")
	s.show(w, r, "pass "+said, func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		n, err := strconv.ParseInt(said, 10, 64)
		if err != nil || n <= 0 || n == 1<<63-1 {
			return nil, reconcile.ErrNotFound
		}
		found, err := s.Ledger.PassesBelow(ctx, n+1, 1)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 || found[0].ID != n {
			return nil, reconcile.ErrNotFound
		}
		actions, next, err := s.Ledger.Actions(ctx, reconcile.Chosen{Pass: n, After: after(r), Most: mostOnPage})
		return web.PassPage(a, &found[0], web.Part[reconcile.Action]{Rows: actions, Next: cursor(next)}), err
	})
}

func (s *pages) sources(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "sources", func(_ context.Context, a *web.Asked) (templ.Component, error) {
		return web.SourcesPage(a),
			nil
	})
}

func (s *pages) rules(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "rules", func(_ context.Context, a *web.Asked) (templ.Component, error) { return web.RulesPage(a), nil })
}

func (s *pages) rule(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	s.show(w, r, "rule "+name, func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		if reconcile.RuleNamed(name).Means == "" {
			return nil, reconcile.ErrNotFound
		}
		all, err := s.Ledger.Report(ctx, web.ReportOf)
		report := reconcile.RuleReport{Rule: name}
		for i := range all {
			if all[i].Rule == name {
				report = all[i]
			}
		}
		return web.RulePage(a, name, &report), err
	})
}

func (s *pages) stops(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "stops", func(_ context.Context, a *web.Asked) (templ.Component, error) { return web.StopsPage(a), nil })
}

func (s *pages) operators(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "operators", func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		found, next, err := s.Ledger.OperatorEvents(ctx, numberedAfter(r), mostOnPage)
		return web.OperatorsPage(a, web.Part[reconcile.TimelineEvent]{Rows: found, Next: cursor(next)}), err
	})
}

func (s *pages) search(w http.ResponseWriter, r *http.Request) {
	sought := strings.TrimSpace(bounded(r.URL.Query().Get("q")))
	s.show(w, r, "it", func(ctx context.Context, a *web.Asked) (templ.Component, error) {
		found, err := s.Ledger.Search(ctx, web.Sought(sought, &a.Process.Policy), mostFound+1)
		return web.SearchPage(a, sought, found[:min(len(found), mostFound)], len(found) > mostFound), err
	})
}
