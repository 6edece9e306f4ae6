package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

const exampleURL = "https://10.0.0.1:6443"

// credentials are those of the entry: url and token, else a kubeconfig, else the service
// account of the Pod that we run in. It also says which namespace they are for.
func credentials(e entry.Entry) (config *rest.Config, namespace string, err error) {
	if e.URL != "" {
		return &rest.Config{Host: e.URL, BearerToken: e.Token,
			TLSClientConfig: rest.TLSClientConfig{CAFile: e.Extra["ca_file"]}}, "default", nil
	}
	if e.Token != "" {
		return nil, "", errors.New("token needs url: the cluster that it is for")
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = e.Extra["kubeconfig"]
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: e.Extra["context"]})
	if config, err = loader.ClientConfig(); err != nil {
		return nil, "", fmt.Errorf("find the cluster's credential (run in the cluster with a service account, set "+
			"kubeconfig, or set url and token): %w", err)
	}
	if namespace, _, err = loader.Namespace(); err != nil {
		return nil, "", fmt.Errorf("find the credential's namespace (set namespace): %w", err)
	}
	return config, namespace, nil
}

// connect makes the client for all but exec. Its transport puts the credential on.
func connect(e entry.Entry, o entry.Options, config *rest.Config) (*wire.Client, *wire.Base, error) {
	config.Timeout = 0 // each call has its own deadline
	config.Dial = (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	var err error
	if o.Transport == nil {
		o.Transport, err = rest.TransportFor(config)
	} else {
		o.Transport, err = rest.HTTPWrappersForConfig(config, o.Transport)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's credential: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster's address: %w", err)
	}
	e.URL = base.String()
	return wire.Open(e, o, wire.Dialect{
		URL: exampleURL, Hint: "is the url that of an API server?", APIError: said, Certain: certain,
		Authorize: func(*http.Request, wire.Call) {},
		Secrets:   []string{config.BearerToken, config.Password},
	})
}

// checkNamespaces refuses what no namespace can be called.
func checkNamespaces(e entry.Entry) error {
	for _, namespace := range split(e.Extra["namespace"]) {
		if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
			return fmt.Errorf("namespace: %q is none: %s", namespace, strings.Join(wrong, "; "))
		}
	}
	return nil
}

// split takes apart what is written with commas.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// checkLabels refuses what no object can be labelled with: it would find nothing, or be
// refused with every listing.
func checkLabels(e entry.Entry) error {
	for key, value := range e.Owns.Labels {
		wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...)
		if len(wrong) > 0 {
			return fmt.Errorf("owns.labels: %s=%s is no label of Kubernetes: %s", key, value, strings.Join(wrong, "; "))
		}
	}
	if label := e.Link.TaskLabel; label != "" {
		if wrong := validation.IsQualifiedName(label); len(wrong) > 0 {
			return fmt.Errorf("link.task_label: %s is no label of Kubernetes: %s", label, strings.Join(wrong, "; "))
		}
	}
	return nil
}

// A status is how the API says what became of a call.
type status struct {
	Kind    string `json:"kind"`
	Status  string `json:"status"` // Success or Failure
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Details struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"details"`
}

func statusOf(a wire.Answer) status {
	var s status
	if !wire.IsJSON(a.Header) || json.Unmarshal(a.Body, &s) != nil || s.Kind != "Status" {
		return status{}
	}
	return s
}

func said(a wire.Answer) wire.APIError {
	s := statusOf(a)
	return wire.APIError{Code: s.Reason, Text: s.Message, Field: "message"}
}

// certain reports whether the API says of an object, by its name, that it is not there. A
// path or a kind that the server does not know is a 404 without a name, and a 410 is a
// listing that took too long.
func certain(a wire.Answer, _ wire.APIError) bool {
	s := statusOf(a)
	return a.Status == http.StatusNotFound && s.Reason == "NotFound" && s.Details.Name != ""
}
