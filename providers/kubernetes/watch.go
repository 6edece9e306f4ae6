package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// watchLasts is after how long the API server ends a watch, so that one that hangs is noticed.
const watchLasts = 5 * time.Minute

// Stream tells of our objects that end, by a watch of each kind and namespace. It begins with what is there, which
// tells of what ended while nobody watched as far as that is still there.
func (p *Provider) Stream(ctx context.Context, opened func(), ended func(id string)) error {
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	left := len(p.namespaces) * len(p.kinds)
	all := func() { // it is open when each of them is
		mu.Lock()
		defer mu.Unlock()
		if left--; left == 0 {
			opened()
		}
	}
	for _, namespace := range p.namespaces {
		for _, k := range p.kinds {
			g.Go(func() error { return p.watch(ctx, k, namespace, all, ended) })
		}
	}
	return g.Wait()
}

func (p *Provider) watch(ctx context.Context, k kind, namespace string, opened func(), ended func(id string)) error {
	query := url.Values{"watch": {"1"}, "timeoutSeconds": {strconv.Itoa(int(watchLasts.Seconds()))}}
	if len(p.entry.Owns.Labels) > 0 {
		query.Set("labelSelector", labels.SelectorFromSet(p.entry.Owns.Labels).String())
	}
	err := p.client.Stream(ctx, wire.Call{What: "watch " + k.plural + " of " + namespace,
		URL: p.at(k, namespace) + "?" + query.Encode()}, opened, func(line []byte) error {
		var e struct {
			Type   string `json:"type"`
			Object object `json:"object"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if e.Type == "ERROR" {
			return fmt.Errorf("the watch was ended by the API server (a %s of code %d or another)", e.Object.Kind,
				http.StatusGone)
		}
		if sb := p.sandbox(k, &e.Object, p.client.Now()); sb.ID != "" && (e.Type == "DELETED" || over(sb.State)) {
			ended(sb.ID)
		}
		return nil
	})
	if wire.StreamEnded(err) {
		return nil
	}
	return err
}

// over reports whether what is in the state will not work any more.
func over(s reconcile.SandboxState) bool {
	return s == reconcile.SandboxStopped || s == reconcile.SandboxFailed || s == reconcile.SandboxEnded
}
