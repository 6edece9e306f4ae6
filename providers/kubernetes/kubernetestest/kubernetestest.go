// Package kubernetestest speaks a Kubernetes API server's protocol over a simulated world:
// Pods, and the claims, sandboxes, pools and templates of agent-sandbox, with exec over
// websockets and SPDY, logs, metrics and reviews of one's own rights. Paths, status codes,
// bodies, paging by expiring tokens, preconditions and odd habits are those of a server
// 1.36 and of agent-sandbox 1.0 (v1beta1), as far as a janitor needs them; client-go drives
// it.
//
// A sandbox of the world is what its id says: pod_NAMESPACE_NAME_UID is a Pod,
// sandbox_… a Sandbox with its Pod, claim_… a SandboxClaim with the Sandbox that it adopted
// and that one's Pod, and spare_… a Sandbox that waits in a warm pool. [IDs] makes such ids.
package kubernetestest

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// Options are the cluster's credential and what it has.
type Options struct {
	Key        string            // bearer token; "" means key
	TaskLabel  string            // a listing by this label is journaled, and struck by faults, as a find
	NoAgents   bool              // agent-sandbox is not installed
	NoMetrics  bool              // metrics-server is not installed
	NoReviews  bool              // questions about rights are not served
	NoSockets  bool              // exec speaks SPDY only, as servers before 1.30 do
	Denied     []string          // "verb plural/subresource" that the credential is not allowed
	Pullers    map[string]string // labels of a Pod that uses each template of the world as its image
	Controlled []owner           // owner references of every Pod
	Keeps      int               // Pods that their owner is made for; 0 stands for 1
	Above      []owner           // owner references of their owner, which keeps as many
}

// An owner is an owner reference.
type owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
	Blocks     bool   `json:"blockOwnerDeletion"`
}

// OwnedBy makes the owner references of what a ReplicaSet, a Job or the like keeps.
func OwnedBy(apiVersion, kind, name string) []owner {
	return []owner{{apiVersion, kind, name, "11111111-0000-4000-8000-000000000001", true, true}}
}

// A Server answers as an API server does. It is safe for concurrent use.
type Server struct {
	world *simulated.World
	o     Options
	mux   *http.ServeMux

	mu        sync.Mutex
	snapshots map[int]*snapshot // of listings under way, by version
	version   int
}

// New makes a server of the world.
func New(w *simulated.World, o Options) *Server {
	if o.Key == "" {
		o.Key = "key"
	}
	s := &Server{world: w, o: o, mux: http.NewServeMux(), snapshots: map[int]*snapshot{}, version: 1000}
	s.routes()
	return s
}

// IDs makes the ids of one kind (pod, claim, sandbox, spare) in the namespace default, for
// [simulated.Options].
func IDs(kind string) func(n int) string {
	return func(n int) string {
		return fmt.Sprintf("%s_default_%s-%05d_%08x-5a4d-4000-8000-%012x", kind, kind, n*7919%100_000, n, n)
	}
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

const (
	core       = "/api/v1/namespaces/{ns}/pods"
	agents     = "/apis/agents.x-k8s.io/v1beta1/namespaces/{ns}/"
	extensions = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/{ns}/"
)

func (s *Server) routes() {
	s.objects(core, pods)
	s.handle("GET "+core+"/{name}/exec", s.kindOfExec, s.exec)
	s.handle("POST "+core+"/{name}/exec", s.kindOfExec, s.exec)
	s.handle("GET "+core+"/{name}/log", always(simulated.LogsOf), s.logs)
	if !s.o.NoMetrics {
		s.handle("GET /apis/metrics.k8s.io/v1beta1/namespaces/{ns}/pods/{name}", always(simulated.UsageOf), s.metrics)
		s.handle("GET /apis/metrics.k8s.io/v1beta1/namespaces/{ns}/pods", always(simulated.AccountOf), noMetrics)
	}
	if !s.o.NoAgents {
		s.objects(agents+"sandboxes", sandboxes)
		s.objects(extensions+"sandboxclaims", claims)
		s.handle("GET "+extensions+"sandboxtemplates/{name}", always(simulated.Snapshot), s.template)
		s.handle("GET "+extensions+"sandboxwarmpools/{name}", always(simulated.Snapshot), s.pool)
	}
	if !s.o.NoReviews {
		s.handle("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", always(simulated.AccountOf), s.whoAmI)
		s.handle("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", always(simulated.AccountOf), s.mayI)
	}
	for _, path := range []string{"batch/v1/namespaces/{ns}/jobs", "apps/v1/namespaces/{ns}/replicasets",
		"apps/v1/namespaces/{ns}/deployments", "apps/v1/namespaces/{ns}/statefulsets"} {
		s.handle("GET /apis/"+path+"/{name}", always(simulated.Get), s.keeper)
		s.handle("DELETE /apis/"+path+"/{name}", always(simulated.Delete), s.endKeeper)
		s.handle("PATCH /apis/"+path+"/{name}", always(simulated.Delete), s.endKeeper)
	}
	s.mux.HandleFunc("/", s.elsewhere)
}

// objects are the verbs of one kind.
func (s *Server) objects(path, plural string) {
	of := func(do func(wiretest.Exchange, string)) func(wiretest.Exchange) {
		return func(x wiretest.Exchange) { do(x, plural) }
	}
	front := s.front()
	s.mux.HandleFunc("GET "+path, front.Handle(s.callOfList, of(s.list)))
	s.handle("GET "+path+"/{name}", always(simulated.Get), of(s.get), plural)
	s.handle("POST "+path, always(simulated.Create), of(s.create), plural)
	s.handle("DELETE "+path+"/{name}", always(simulated.Delete), of(s.destroy), plural)
}

func always(k simulated.Kind) func(*http.Request) simulated.Kind {
	return func(*http.Request) simulated.Kind { return k }
}

func (s *Server) front() wiretest.Front {
	return wiretest.Front{World: s.world, Fail: fail, Known: s.known}
}

// handle is for calls about one object. It is journaled with the id of the world's sandbox
// that the object belongs to.
func (s *Server) handle(pattern string, kind func(*http.Request) simulated.Kind, do func(wiretest.Exchange),
	plural ...string,
) {
	of := append(plural, pods)[0]
	s.mux.HandleFunc(pattern, s.front().Handle(func(r *http.Request) simulated.Call {
		c := simulated.Call{Kind: kind(r), ID: r.PathValue("name")}
		if b, _, ok := s.find(of, r.PathValue("ns"), r.PathValue("name")); ok {
			c.ID = b.ID
		}
		return c
	}, do))
}

// known checks the token.
func (s *Server) known(r *http.Request) bool {
	return subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.o.Key)) == 1
}

// elsewhere is a path that the server does not know.
func (s *Server) elsewhere(w http.ResponseWriter, _ *http.Request) {
	s.front().Date(w)
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// reasons are the words for the codes.
var reasons = map[int]string{
	400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired",
	422: "Invalid", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout",
}

// A status is how the API says what became of a call.
type status struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Metadata   map[string]any `json:"metadata"`
	Status     string         `json:"status"`
	Message    string         `json:"message,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Code       int            `json:"code,omitempty"`
}

func failure(code int, message string) status {
	return status{Kind: "Status", APIVersion: "v1", Metadata: map[string]any{}, Status: "Failure", Message: message,
		Reason: reasons[code], Code: code}
}

// fail answers in the form of the API's errors.
func fail(w http.ResponseWriter, _ *http.Request, code int, message string) {
	wiretest.Exchange{W: w}.JSON(code, failure(code, message))
}

func notFound(x wiretest.Exchange, plural string) {
	name := x.R.PathValue("name")
	group := groups[plural]
	full := plural
	if group != "" {
		full += "." + group
	}
	s := failure(http.StatusNotFound, fmt.Sprintf("%s %q not found", full, name))
	s.Details = map[string]any{"name": name, "group": group, "kind": plural}
	x.JSON(http.StatusNotFound, s)
}

func (s *Server) denied(verb, plural, subresource string) bool {
	what := strings.TrimSuffix(verb+" "+plural+"/"+subresource, "/")
	return slices.Contains(s.o.Denied, what)
}
