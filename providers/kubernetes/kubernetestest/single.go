package kubernetestest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (s *Server) get(x wiretest.Exchange, plural string) {
	b, p, ok := s.find(plural, x.R.PathValue("ns"), x.R.PathValue("name"))
	if !ok {
		notFound(x, plural)
		return
	}
	x.JSON(http.StatusOK, s.object(plural, b, p))
}

// create makes a Pod, or a claim on a pool. A policy of admission refuses what is no template of the world: the API
// itself takes any image.
func (s *Server) create(x wiretest.Exchange, plural string) {
	var in struct {
		Metadata struct {
			Name   string
			Labels map[string]string
		}
		Spec struct {
			WarmPoolRef struct{ Name string }
			Containers  []struct{ Image string }
		}
	}
	ns := x.R.PathValue("ns")
	if json.Unmarshal(x.Body, &in) != nil || in.Metadata.Name == "" || plural == sandboxes {
		fail(x.W, x.R, http.StatusBadRequest, "couldn't decode the object")
		return
	}
	kind, template := "claim", in.Spec.WarmPoolRef.Name
	if plural == pods {
		kind, template = "pod", append(in.Spec.Containers, struct{ Image string }{})[0].Image
	}
	if t, err := s.world.TemplateOf(template); err != nil || t.State != reconcile.TemplateActive {
		fail(x.W, x.R, http.StatusForbidden, fmt.Sprintf("%s %q is forbidden: policy denied the request: no template %q",
			plural, in.Metadata.Name, template))
		return
	}
	if _, _, there := s.find(plural, ns, in.Metadata.Name); there {
		fail(x.W, x.R, http.StatusConflict, fmt.Sprintf("%s %q already exists", plural, in.Metadata.Name))
		return
	}
	uid := IDs(kind)(len(s.world.Sandboxes()) + 1_000_000)
	uid = uid[strings.LastIndex(uid, "_")+1:]
	b := s.world.Put(simulated.Sandbox{ID: strings.Join([]string{kind, ns, in.Metadata.Name, uid}, "_"),
		Name: in.Metadata.Name, Template: template, Labels: in.Metadata.Labels, State: reconcile.SandboxCreating})
	p, _ := placeOf(b.ID)
	x.JSON(http.StatusCreated, s.object(plural, b, p))
}

type deleteOptions struct {
	DryRun        []string
	Preconditions struct{ UID, ResourceVersion *string }
}

func (s *Server) destroy(x wiretest.Exchange, plural string) {
	b, p, ok := s.find(plural, x.R.PathValue("ns"), x.R.PathValue("name"))
	if !ok {
		notFound(x, plural)
		return
	}
	var in deleteOptions
	if len(x.Body) > 0 && json.Unmarshal(x.Body, &in) != nil {
		fail(x.W, x.R, http.StatusBadRequest, "couldn't decode the delete options")
		return
	}
	_, uid, _ := p.as(plural)
	if against := s.against(in, uid, s.versionOf(b)); against != "" {
		fail(x.W, x.R, http.StatusConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", plural,
			x.R.PathValue("name"), against))
		return
	}
	s.carryOut(x, plural, b, p, len(in.DryRun) > 0 || x.Fault.Effect == simulated.NotDone)
}

// against is the precondition that does not hold.
func (s *Server) against(in deleteOptions, uid, version string) string {
	switch want := in.Preconditions; {
	case want.UID != nil && *want.UID != uid:
		return fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *want.UID, uid)
	case want.ResourceVersion != nil && *want.ResourceVersion != version:
		return fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *want.ResourceVersion, version)
	}
	return ""
}

func (s *Server) carryOut(x wiretest.Exchange, plural string, b simulated.Sandbox, p place, onlyAsIf bool) {
	if onlyAsIf {
		b.Doomed = true
		x.JSON(http.StatusOK, s.object(plural, b, p))
		return
	}
	now, err := s.world.Destroy(b.ID)
	var no *simulated.Refused
	switch {
	case errors.As(err, &no):
		fail(x.W, x.R, http.StatusForbidden, `admission webhook "guard.test" denied the request: `+no.Words)
	case errors.Is(err, simulated.ErrGone):
		notFound(x, plural)
	case err != nil:
		fail(x.W, x.R, http.StatusConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: the object has been "+
			"modified; please apply your changes to the latest version and try again", plural, x.R.PathValue("name")))
	default:
		x.JSON(http.StatusOK, s.object(plural, now, p))
	}
}

func (s *Server) template(x wiretest.Exchange) {
	t, err := s.world.TemplateOf(x.R.PathValue("name"))
	if err != nil {
		notFound(x, "sandboxtemplates")
		return
	}
	x.JSON(http.StatusOK, object{"kind": "SandboxTemplate", "apiVersion": extensionsGroup + "/v1beta1", "metadata": object{
		"name": t.Name, "namespace": x.R.PathValue("ns"), "uid": "7e000000-0000-4000-8000-" + t.ID,
		"creationTimestamp": stamp(t.CreatedAt)}})
}

// pool is the warm pool "pool", of the template "base"; there is no other.
func (s *Server) pool(x wiretest.Exchange) {
	if x.R.PathValue("name") != "pool" {
		notFound(x, "sandboxwarmpools")
		return
	}
	x.JSON(http.StatusOK, object{"kind": "SandboxWarmPool", "apiVersion": extensionsGroup + "/v1beta1", "metadata": object{
		"name": "pool", "namespace": x.R.PathValue("ns"), "uid": "60000000-0000-4000-8000-000000000001"},
		"spec": object{"replicas": 1, "sandboxTemplateRef": object{"name": "base"}}})
}

func (s *Server) logs(x wiretest.Exchange) {
	b, _, ok := s.find(pods, x.R.PathValue("ns"), x.R.PathValue("name"))
	if !ok {
		notFound(x, pods)
		return
	}
	if container := x.R.URL.Query().Get("container"); container != unit {
		fail(x.W, x.R, http.StatusBadRequest, fmt.Sprintf("container %s is not valid for pod %s", container,
			x.R.PathValue("name")))
		return
	}
	if b.State == reconcile.SandboxCreating {
		fail(x.W, x.R, http.StatusBadRequest, fmt.Sprintf("container %q in pod %q is waiting to start: ContainerCreating",
			unit, x.R.PathValue("name")))
		return
	}
	x.W.Header().Set("Content-Type", "text/plain")
	_, _ = x.W.Write([]byte(b.Log)) // the client may have left
}

func usageOf(b simulated.Sandbox) reconcile.Resources {
	if b.Usage == (reconcile.Resources{}) {
		return reconcile.Resources{CPUPercent: 3, MemoryUsed: 200 << 20, MemoryTotal: 1 << 30}
	}
	return b.Usage
}

func (s *Server) metrics(x wiretest.Exchange) {
	b, _, ok := s.find(pods, x.R.PathValue("ns"), x.R.PathValue("name"))
	if !ok || b.State != reconcile.SandboxRunning {
		s := failure(http.StatusNotFound, fmt.Sprintf("podmetrics.metrics.k8s.io %q not found", x.R.PathValue("name")))
		s.Details = map[string]any{"name": x.R.PathValue("name"), "group": "metrics.k8s.io", "kind": "podmetrics"}
		x.JSON(http.StatusNotFound, s)
		return
	}
	u := usageOf(b)
	x.JSON(http.StatusOK, object{"kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
		"metadata":  object{"name": x.R.PathValue("name"), "namespace": x.R.PathValue("ns")},
		"timestamp": stamp(s.world.Now()), "window": "15s", "containers": []object{
			{"name": "proxy", "usage": object{"cpu": "1m", "memory": "1Mi"}},
			{"name": unit, "usage": object{"cpu": fmt.Sprintf("%.0fn", u.CPUPercent*1e7), "memory": fmt.Sprint(u.MemoryUsed)}}}})
}

func (s *Server) whoAmI(x wiretest.Exchange) {
	x.JSON(http.StatusCreated, object{"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
		"status": object{"userInfo": object{"username": "system:serviceaccount:sandkeeper:sandkeeper",
			"groups": []string{"system:authenticated"}}}})
}

func (s *Server) mayI(x wiretest.Exchange) {
	var in struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Resource, Subresource string }
		}
	}
	if json.Unmarshal(x.Body, &in) != nil {
		fail(x.W, x.R, http.StatusBadRequest, "the review does not parse")
		return
	}
	asked := in.Spec.ResourceAttributes
	how := object{"allowed": !s.denied(asked.Verb, asked.Resource, asked.Subresource)}
	x.JSON(http.StatusCreated, object{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
		"status": how})
}

// noMetrics is the listing of measurements. They are only given one by one here.
func noMetrics(x wiretest.Exchange) {
	x.JSON(http.StatusOK, object{"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "items": []object{}})
}
