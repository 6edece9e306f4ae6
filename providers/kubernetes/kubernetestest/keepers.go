package kubernetestest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// keeperVersion is the version of what keeps Pods.
const keeperVersion = "77"

// owned is the owner of the path, and its own owners.
func (s *Server) owned(x wiretest.Exchange) (o owner, above []owner, found bool) {
	for i, refs := range [][]owner{s.o.Controlled, s.o.Above} {
		if len(refs) == 0 || refs[0].Name != x.R.PathValue("name") ||
			!strings.Contains(x.R.URL.Path, "/"+strings.ToLower(refs[0].Kind)+"s/") {
			continue
		}
		if i == 0 {
			above = s.o.Above
		}
		return refs[0], above, true
	}
	return owner{}, nil, false
}

// keeper is a Job, or what has replicas.
func (s *Server) keeper(x wiretest.Exchange) {
	o, above, found := s.owned(x)
	if !found {
		notFound(x, "keepers")
		return
	}
	spec, keeps := object{}, max(s.o.Keeps, 1)
	if o.Kind == "Job" {
		spec["parallelism"], spec["completions"] = keeps, keeps
	} else if keeps > 1 { // the cluster fills in 1; that it may be missing costs nothing to bear
		spec["replicas"] = keeps
	}
	x.JSON(http.StatusOK, object{"kind": o.Kind, "apiVersion": o.APIVersion, "spec": spec, "metadata": object{
		"name": o.Name, "namespace": x.R.PathValue("ns"), "uid": o.UID,
		"resourceVersion": keeperVersion, "ownerReferences": above}})
}

// endKeeper deletes a Job or scales to none, and with that ends all Pods that it keeps: those of the world.
func (s *Server) endKeeper(x wiretest.Exchange) {
	o, _, found := s.owned(x)
	var in struct {
		deleteOptions
		Metadata struct{ UID, ResourceVersion string }
		Spec     struct{ Replicas *int }
	}
	if !found || json.Unmarshal(x.Body, &in) != nil {
		notFound(x, "keepers")
		return
	}
	against := ""
	if x.R.Method == http.MethodDelete {
		against = s.against(in.deleteOptions, o.UID, keeperVersion)
	} else if in.Metadata.UID != o.UID || in.Metadata.ResourceVersion != keeperVersion {
		against = "the object has been modified"
	} else if in.Spec.Replicas == nil || *in.Spec.Replicas != 0 ||
		x.R.Header.Get("Content-Type") != "application/merge-patch+json" {
		fail(x.W, x.R, http.StatusUnprocessableEntity, "not scaled to none")
		return
	}
	if against != "" {
		fail(x.W, x.R, http.StatusConflict, "Operation cannot be fulfilled on "+o.Name+": "+against)
		return
	}
	if x.Fault.Effect != simulated.NotDone {
		for _, b := range s.world.Sandboxes() {
			_, _ = s.world.Destroy(b.ID)
		}
	}
	x.JSON(http.StatusOK, object{"kind": "Status", "apiVersion": "v1", "status": "Success"})
}
