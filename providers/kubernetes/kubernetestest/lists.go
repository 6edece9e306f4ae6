package kubernetestest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A snapshot is a listing as of one moment, while its pages are read.
type snapshot struct {
	at    time.Time
	items []object // by name
}

// kept is how long a snapshot can be read.
const kept = 5 * time.Minute

// A token is what continue holds. Clients must not look inside.
type token struct {
	Version string `json:"v"`
	RV      int    `json:"rv"` // -1: from what is there now
	Start   string `json:"start"`
	Page    int    `json:"p"`
}

func (t token) String() string {
	text, _ := json.Marshal(t) // texts and numbers always encode
	return base64.RawURLEncoding.EncodeToString(text)
}

func tokenOf(text string) (token, bool) {
	t := token{Page: 1}
	if text == "" {
		return t, true
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return t, err == nil && json.Unmarshal(raw, &t) == nil && t.Version == "meta.k8s.io/v1"
}

// Compact forgets the past: listings under way expire.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.snapshots)
}

// callOfList tells a find, which asks for one task, from a listing.
func (s *Server) callOfList(r *http.Request) simulated.Call {
	t, _ := tokenOf(r.URL.Query().Get("continue"))
	c := simulated.Call{Kind: simulated.List, Page: t.Page}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil || s.o.TaskLabel == "" {
		return c
	}
	if task, exact := selector.RequiresExactMatch(s.o.TaskLabel); exact {
		c.Kind, c.ID = simulated.Find, task
	}
	return c
}

var listKinds = map[string]string{pods: "PodList", sandboxes: "SandboxList", claims: "SandboxClaimList"}

func (s *Server) list(x wiretest.Exchange, plural string) {
	v := x.R.URL.Query()
	limit, _ := strconv.Atoi(v.Get("limit"))
	from, ok := tokenOf(v.Get("continue"))
	selector, err := labels.Parse(v.Get("labelSelector"))
	switch {
	case !ok:
		fail(x.W, x.R, http.StatusBadRequest, "invalid continue token")
		return
	case err != nil:
		fail(x.W, x.R, http.StatusBadRequest, "unable to parse requirement: "+err.Error())
		return
	case v.Get("fieldSelector") != "" && plural != pods:
		fail(x.W, x.R, http.StatusBadRequest, "field label not supported: "+v.Get("fieldSelector"))
		return
	}
	all, rv, ok := s.whole(x, plural, selector, from)
	if !ok {
		s.expired(x, from)
		return
	}
	s.sendPage(x, plural, pageOf(all, from, limit, x.Fault), rv, from, selector.Empty())
}

// whole is the listing that a page is cut from.
func (s *Server) whole(x wiretest.Exchange, plural string, selector labels.Selector, from token) ([]object, int, bool) {
	if from.RV > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		old := s.snapshots[from.RV]
		if old == nil || s.world.Now().Sub(old.at) > kept {
			return nil, 0, false
		}
		return old.items, from.RV, true
	}
	items := s.items(plural, x.R.PathValue("ns"), selector, x.Fault)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.snapshots[s.version] = &snapshot{s.world.Now(), items}
	return items, s.version, true
}

// items are the objects of a kind, by name.
func (s *Server) items(plural, namespace string, selector labels.Selector, f simulated.Fault) []object {
	boxes, _ := s.world.Page(simulated.Query{Limit: math.MaxInt}, f)
	out := []object{}
	for _, b := range boxes {
		p, ok := placeOf(b.ID)
		if !ok || p.namespace != namespace {
			continue
		}
		if _, _, ok := p.as(plural); ok {
			out = append(out, s.object(plural, b, p))
		}
	}
	if plural == pods {
		out = append(out, s.pullers(namespace)...)
	}
	out = slices.DeleteFunc(out, func(o object) bool { return !selector.Matches(labelsOf(o)) })
	slices.SortFunc(out, func(a, b object) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return out
}

// pullers are Pods that use the world's templates: an image shows only through these.
func (s *Server) pullers(namespace string) []object {
	var out []object
	if s.o.Pullers == nil {
		return nil
	}
	for _, t := range s.world.Templates() {
		b := simulated.Sandbox{State: reconcile.SandboxRunning, Template: t.Name, Labels: s.o.Pullers,
			CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt}
		waits := ""
		switch {
		case t.State == reconcile.TemplateFailed:
			b.State, waits = reconcile.SandboxCreating, "ImagePullBackOff"
		case t.State != reconcile.TemplateActive:
			b.State, waits = reconcile.SandboxCreating, "ContainerCreating"
		}
		o := s.pod(b, place{"pod", namespace, "puller-" + t.Name, "90000000-0000-4000-8000-" + t.Name})
		if runs, _ := o["status"].(object)["containerStatuses"].([]object); waits != "" {
			runs[1]["state"] = object{"waiting": object{"reason": waits, "message": t.Error}}
		}
		out = append(out, o)
	}
	return out
}

func labelsOf(o object) labels.Set {
	meta, _ := o["metadata"].(object)
	switch all := meta["labels"].(type) {
	case map[string]string:
		return all
	case object:
		out := labels.Set{}
		for key, value := range all {
			out[key] = fmt.Sprint(value)
		}
		return out
	}
	return nil
}

func nameOf(o object) string {
	meta, _ := o["metadata"].(object)
	name, _ := meta["name"].(string)
	return name
}

// pageOf is the rest of the items from the token's name on.
func pageOf(all []object, from token, limit int, f simulated.Fault) []object {
	at := 0
	for at < len(all) && from.Start != "" && nameOf(all[at])+"\x00" <= from.Start {
		at++
	}
	if f.Effect == simulated.Repeat && at > 0 {
		at = max(0, at-limit/2)
	}
	return all[at:]
}

func (s *Server) sendPage(x wiretest.Exchange, plural string, rest []object, rv int, from token, counts bool) {
	limit, _ := strconv.Atoi(x.R.URL.Query().Get("limit"))
	meta := object{"resourceVersion": fmt.Sprint(rv)}
	next := token{"meta.k8s.io/v1", rv, "", from.Page + 1}
	switch {
	case x.Fault.Effect == simulated.SameCursor:
		meta["continue"] = token{"meta.k8s.io/v1", -1, "", 2}.String()
	case limit > 0 && len(rest) > limit:
		if counts { // a server does not count what a selector leaves
			meta["remainingItemCount"] = len(rest) - limit
		}
		rest = rest[:limit]
		next.Start = nameOf(rest[limit-1]) + "\x00"
		meta["continue"] = next.String()
	}
	version := "v1"
	if group := groups[plural]; group != "" {
		version = group + "/v1beta1"
	}
	x.JSON(http.StatusOK, object{"kind": listKinds[plural], "apiVersion": version, "metadata": meta, "items": rest})
}

// expired is the answer to a token that is too old: with one that leads on through what is
// there now, which is another world than that of the pages before.
func (s *Server) expired(x wiretest.Exchange, from token) {
	f := failure(http.StatusGone, "The provided continue parameter is too old to display a consistent list result. "+
		"You can start a new list without the continue parameter, or use the continue token in this response to "+
		"retrieve the remainder of the results.")
	from.RV = -1
	f.Metadata["continue"] = from.String()
	x.JSON(http.StatusGone, f)
}
