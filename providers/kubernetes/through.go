package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Kinds that keep Pods. Their words are those of owner references.
var (
	jobKind         = kind{"Job", []string{"apis", "batch", "v1"}, "jobs", "batch"}
	replicaSetKind  = kind{"ReplicaSet", []string{"apis", "apps", "v1"}, "replicasets", "apps"}
	deploymentKind  = kind{"Deployment", replicaSetKind.path, "deployments", "apps"}
	statefulSetKind = kind{"StatefulSet", replicaSetKind.path, "statefulsets", "apps"}

	keepers = map[string]kind{"batch/v1 Job": jobKind, "apps/v1 ReplicaSet": replicaSetKind,
		"apps/v1 Deployment": deploymentKind, "apps/v1 StatefulSet": statefulSetKind}
)

// A keeper is what makes a Pod again.
type keeper struct {
	object
	Spec struct {
		Replicas    *int `json:"replicas"`    // 1 when not given
		Parallelism *int `json:"parallelism"` // of a Job, the same
		Completions *int `json:"completions"`
	} `json:"spec"`
}

// pods is how many Pods it keeps.
func (k *keeper) pods() int {
	most := 0
	for _, n := range []*int{k.Spec.Replicas, k.Spec.Parallelism, k.Spec.Completions} {
		if n != nil {
			most = max(most, *n)
		}
	}
	if k.Spec.Replicas == nil && k.Spec.Parallelism == nil {
		most = max(most, 1)
	}
	return most
}

// endThrough ends a Pod by what makes it again: a Job is deleted, and what has replicas is scaled to none, if this Pod
// is all that it keeps. Each step up compares uids; the change compares uid and version.
func (p *Provider) endThrough(ctx context.Context, n name, by *owner) (reconcile.Termination, error) {
	for {
		k, known := keepers[by.APIVersion+" "+by.Kind]
		if !known {
			return reconcile.TerminateRefused, fmt.Errorf("%s %s controls it and would make it again: terminate that",
				by.Kind, by.Name)
		}
		at := p.at(k, n.namespace, by.Name)
		var o keeper
		_, err := p.client.Get(ctx, wire.Call{What: "get " + k.word, URL: at}, &o)
		switch {
		case errors.Is(err, reconcile.ErrNotFound):
			return "", wire.Held(fmt.Errorf("%s %s, which controlled it, is gone: the cluster ends it", by.Kind, by.Name))
		case err != nil:
			return "", err
		case o.Metadata.UID != by.UID:
			return reconcile.TerminateChanged, nil
		case o.pods() > 1:
			return reconcile.TerminateRefused, fmt.Errorf("%s %s keeps %d Pods: ending this one would end the others, or "+
				"make it again", by.Kind, by.Name, o.pods())
		case o.controller() != nil && k.word != jobKind.word: // the CronJob of a Job makes another one in its own time
			by = o.controller()
			continue
		case k.word == jobKind.word:
			return p.endKeeper(ctx, wire.Call{What: "delete Job", Method: http.MethodDelete, URL: at,
				Body: deleteOptions(pods, &o.object)})
		}
		body, _ := json.Marshal(map[string]any{ // texts and numbers always encode
			"metadata": map[string]string{"uid": o.Metadata.UID, "resourceVersion": o.Metadata.ResourceVersion},
			"spec":     map[string]int{"replicas": 0},
		})
		return p.endKeeper(ctx, wire.Call{What: "scale " + k.word, Method: http.MethodPatch, URL: at, Body: body,
			Type: "application/merge-patch+json"})
	}
}

// endKeeper changes what makes the Pod again. The Pod then ends by the cluster's own doing.
func (p *Provider) endKeeper(ctx context.Context, call wire.Call) (reconcile.Termination, error) {
	if a, err := p.client.Ask(ctx, call, &struct{}{}); err != nil {
		return p.undeleted(a, err)
	}
	return reconcile.TerminateAccepted, nil
}
