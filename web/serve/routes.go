package serve

import (
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/web/api"
)

// A route is one row of the table that the router is made from. What has no row is not served, and a row that breaks a
// rule of [route.check] is left out. docs/http.md shows the table.
type route struct {
	method, path string
	kind         kind
	role         role         // which it needs
	by           []credential // which count
	tenants      bool         // it may hold texts of tenants
	cache        caching
	on           listener
	to           http.HandlerFunc
}

// routes are all that is served. What a program's row takes and answers is in the table operations.
func routes(s *site) []route {
	return slices.Concat(
		s.pages.routes(), s.streams.routes(), s.pages.runbookRoutes(), s.upkeep.routes(), s.forms.routes(),
		s.documents.routes(), s.books.routes(), s.streams.programRoutes(), s.asker.previews(s.documents),
		s.receiver.routes(), s.agents.routes(), s.asker.routes())
}

func (s *pages) routes() []route {
	return []route{
		forPeople("/{$}", s.page),
		forPeople("/tasks", s.tasks),
		forPeople("/tasks/{id}", s.task),
		forPeople("/sandboxes", s.sandboxes),
		forPeople("/sandboxes/{provider}/{id}", s.sandbox),
		forPeople("/incidents", s.incidents),
		forPeople("/incidents/{id}", s.incident),
		forPeople("/findings", s.findings),
		forPeople("/actions", s.actions),
		forPeople("/passes", s.passes),
		forPeople("/passes/{n}", s.pass),
		forPeople("/sources", s.sources),
		forPeople("/rules", s.rules),
		forPeople("/rules/{name}", s.rule),
		forPeople("/stops", s.stops),
		forPeople("/operators", s.operators),
		forPeople("/search", s.search),
	}
}

// runbookRoutes are of the program's own texts: nothing of a tenant is in them.
func (s *pages) runbookRoutes() []route {
	return []route{
		ownText("/runbooks", s.runbooks),
		ownText("/runbooks/{name}", s.runbook(".")),
		ownText("/runbooks/rules/{name}", s.runbook("rules")),
	}
}

func (s *streams) routes() []route { return []route{ownText("/live", s.live)} }

func (s *upkeep) routes() []route {
	return []route{
		{"GET", "/static/{name}", kindAsset, roleReader, readers(), false, keptByVersion, onWeb, s.asset},
		{"GET", "/metrics", kindMetrics, roleReader, readers(), true, notKept, onWeb, s.metrics},
		{"GET", "/healthz", kindHealth, roleNone, nil, false, notKept, onWeb, s.alive},
		{"GET", "/readyz", kindHealth, roleNone, nil, false, notKept, onWeb, s.ready},
	}
}

// routes are for operators at a browser.
func (s *forms) routes() []route {
	return []route{
		forPeople("/act/{verb}", s.confirm),
		{"POST", "/act/{verb}", kindAct, roleOperator, []credential{bySession}, true, notKept, onWeb, s.perform},
		ownText("/session", s.login),
		{"POST", "/session", kindSession, roleReader, []credential{byBasic, bySession, byProxy}, false, notKept, onWeb,
			s.begin},
		{"POST", "/session/end", kindSession, roleReader, []credential{bySession}, false, notKept, onWeb, s.leave},
	}
}

func (s *documents) routes() []route {
	return []route{
		reads("/api/v1/openapi.json", openAPI),
		reads("/api/v1/status", document(s, s.status)),
		reads("/api/v1/findings", document(s, chose(s, Records.Findings, api.FindingOf, numbered))),
		reads("/api/v1/incidents", document(s, s.incidents)),
		reads("/api/v1/incidents/{id}", document(s, s.incident)),
		reads("/api/v1/actions", document(s, chose(s, Records.Actions, api.ActionOf, nil))),
		reads("/api/v1/actions/{id}", document(s, s.action)),
		reads("/api/v1/tasks", document(s, chose(s, Records.Tasks, api.TaskOf, nil))),
		reads("/api/v1/tasks/{id}", document(s, s.task)),
		reads("/api/v1/sandboxes", document(s, chose(s, Records.Sandboxes, api.SandboxOf, nil))),
		reads("/api/v1/sandboxes/{provider}/{id}", document(s, s.sandbox)),
		reads("/api/v1/passes", document(s, s.passes)),
		reads("/api/v1/passes/{n}", document(s, s.pass)),
		reads("/api/v1/sources", document(s, s.sources)),
		reads("/api/v1/rules", document(s, s.rules)),
		reads("/api/v1/rules/{name}", document(s, s.rule)),
		reads("/api/v1/holds", document(s, s.holds)),
		reads("/api/v1/pauses", document(s, s.pauses)),
		reads("/api/v1/requests", document(s, s.requests)),
	}
}

func (s *books) routes() []route {
	return []route{
		reads("/api/sandbox/stats", document(s.documents, s.stats)),
		reads("/api/sandbox/list", document(s.documents, s.list)),
		reads("/api/sandbox/{id}", document(s.documents, s.sandbox)),
		reads("/api/sandbox/{id}/logs", document(s.documents, s.logs)),
		reads("/api/sandbox/{id}/resources", document(s.documents, s.resources)),
	}
}

func (s *streams) programRoutes() []route { return []route{reads("/api/v1/events", s.events)} }

func (s *asker) previews(d *documents) []route {
	return []route{reads("/api/v1/acts/{verb}", document(d, s.preview))}
}

// routes are for agents, by the Model Context Protocol: two servers, of which one reads and one proposes.
func (s *agents) routes() []route {
	return []route{
		{"POST", "/mcp", kindAgent, roleReader, []credential{byReadToken, byActToken}, true, notKept, onWeb, s.read},
		{"POST", "/mcp/propose", kindAct, roleOperator, []credential{byActToken}, true, notKept, onWeb, s.offer},
	}
}

func (s *asker) routes() []route {
	return []route{
		s.acts("POST", "/api/v1/acts/{verb}", s.act),
		s.acts("POST", "/api/v1/nudge", s.nudge),
		s.acts("POST", "/api/v1/intents", s.intent),
		s.acts("DELETE", "/api/sandbox/{id}", s.bookDelete),
		s.acts("POST", "/api/sandbox/cleanup", s.bookCleanup),
		s.acts("POST", "/api/sandbox/cleanup/emergency", s.bookEmergency),
	}
}
