package deploy

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kubeyaml "sigs.k8s.io/yaml"
)

// kinds are the types of Kubernetes itself, by what an object says it is.
var kinds = map[string]func() any{
	"v1 ConfigMap":                             func() any { return new(corev1.ConfigMap) },
	"v1 Service":                               func() any { return new(corev1.Service) },
	"v1 ServiceAccount":                        func() any { return new(corev1.ServiceAccount) },
	"apps/v1 Deployment":                       func() any { return new(appsv1.Deployment) },
	"batch/v1 CronJob":                         func() any { return new(batchv1.CronJob) },
	"batch/v1 Job":                             func() any { return new(batchv1.Job) },
	"policy/v1 PodDisruptionBudget":            func() any { return new(policyv1.PodDisruptionBudget) },
	"networking.k8s.io/v1 Ingress":             func() any { return new(networkingv1.Ingress) },
	"networking.k8s.io/v1 NetworkPolicy":       func() any { return new(networkingv1.NetworkPolicy) },
	"rbac.authorization.k8s.io/v1 Role":        func() any { return new(rbacv1.Role) },
	"rbac.authorization.k8s.io/v1 RoleBinding": func() any { return new(rbacv1.RoleBinding) },
}

// conforms decodes an object as an API server with strict validation does: no field that the kind has not, none twice,
// each of its type. The kinds of Prometheus's operator are known by the types of these tests alone.
func conforms(o Object, document string) error {
	kind := o.APIVersion + " " + o.Kind
	if strings.HasPrefix(kind, "monitoring.coreos.com/") {
		return nil
	}
	made, known := kinds[kind]
	if !known {
		return fmt.Errorf("apiVersion %s has no such kind that these tests know", o.APIVersion)
	}
	return kubeyaml.UnmarshalStrict([]byte(document), made())
}
