package cloudflare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A worker is the user's Worker: its registry and its way into the sandboxes.
type worker struct{ *wire.Client }

// routes are paths of the Worker beside those of sandboxes: no sandbox has such an id.
var routes = []string{"stats", "list", "cleanup", "audit"}

// certainWorker believes a 404 whose words are of a sandbox. What a router says of a path that
// it does not know is not enough, be it in JSON, with a code, or with the path in it, which
// may be called sandbox as well: the listing decides.
func certainWorker(a wire.Answer, s wire.APIError) bool {
	if a.Status == http.StatusGone {
		return wire.IsJSON(a.Header)
	}
	words := strings.ToLower(s.Text)
	return s.Code == "sandbox_not_found" || strings.Contains(words, "sandbox") && !strings.Contains(words, "/") &&
		(s.Code == "not_found" || strings.Contains(words, "not found"))
}

// page reads a page of the registry. Old Workers answer with the bare list.
func (w *worker) page(ctx context.Context, cursor string) (part, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	a, err := w.Read(ctx, wire.Call{What: "list", URL: w.At("list") + "?" + query.Encode(), Max: wire.MaxPage})
	var in records
	switch {
	case err != nil:
	case bytes.HasPrefix(bytes.TrimLeft(a.Body, " \r\n\t"), []byte("[")):
		err = wire.DecodePage(w.Client, a, &in.Sandboxes)
	default:
		err = wire.DecodePage(w.Client, a, &in)
	}
	if err == nil && in.Sandboxes == nil {
		err = errors.New("the answer is no list: it lacks sandboxes")
	}
	return partOf(a, err, in.Next, in.Sandboxes, func(r *record) (pair, string) { return pair{record: r}, r.ID })
}

// uncalled are the statuses of a Worker that has no such call.
var uncalled = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}

// one reads a record by its id. A Worker that has no such call has a list.
func (w *worker) one(ctx context.Context, id string) (*record, time.Time, error) {
	if slices.Contains(routes, id) {
		return nil, time.Time{}, fmt.Errorf("%w: %q is a path of the Worker", reconcile.ErrUnknownID, id)
	}
	var r record
	a, err := w.Get(ctx, wire.Call{What: "get", URL: w.At(id)}, &r)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
	case slices.Contains(uncalled, a.Status):
		return w.listed(ctx, id)
	case err != nil:
	case r.ID == "":
		err = errors.New("the answer is no sandbox: it has no id")
	case r.ID != id:
		err = fmt.Errorf("the answer is another sandbox: %s", text.Clip(r.ID, 80))
	default:
		return &r, a.Date, nil
	}
	return nil, a.Date, err
}

// listed looks a record up in the whole registry, by its id or by that of its Durable Object.
func (w *worker) listed(ctx context.Context, id string) (found *record, asOf time.Time, err error) {
	err = each(ctx, w.page, func(of pair, date time.Time) {
		r := of.record
		if asOf = date; r.ID == id || found == nil && isObject(id) && strings.EqualFold(r.Actor, id) {
			found = r
		}
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%w: the registry does not list it", reconcile.ErrNotFound)
	}
	return found, asOf, err
}

// end asks once. That it took the request is no proof: the next look is. A 409 says that it
// is being ended already.
func (w *worker) end(ctx context.Context, id string) (reconcile.Termination, error) {
	a, err := w.Once(ctx, wire.Call{What: "delete", Method: http.MethodDelete, URL: w.At(id)})
	switch {
	case err != nil:
		return "", err
	case a.OK() && strings.Contains(a.Header.Get("Content-Type"), "html"):
		return "", fmt.Errorf("%w: a page, where the Worker should be", wire.ErrNotAPI)
	case a.OK(), a.Status == http.StatusConflict:
		return reconcile.TerminateAccepted, nil
	}
	return wire.Unchanged(a, w.Refuse(a),
		http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity)
}

// exec runs a command. One that could not be started has a negative exit code.
func (w *worker) exec(ctx context.Context, id, command string, within time.Duration) wire.ProbePart {
	var in struct {
		ExitCode *int   `json:"exit_code"`
		Stderr   string `json:"stderr"`
	}
	body, _ := json.Marshal(map[string]any{ // texts and a number always encode
		"command": []string{"sh", "-c", command}, "timeout_ms": within.Milliseconds(),
	})
	return w.judge(ctx, wire.Call{What: "probe exec", Method: http.MethodPost, URL: w.At(id, "exec"), Body: body,
		Timeout: within + wire.Margin}, &in, func() wire.ProbePart {
		if in.ExitCode == nil {
			return wire.Unclear("200 with something that is no result")
		}
		return wire.Ran(*in.ExitCode, in.Stderr)
	})
}

// files lists a path.
func (w *worker) files(ctx context.Context, id, path string, within time.Duration) wire.ProbePart {
	var in struct {
		Entries []struct {
			Name string `json:"name"`
		} `json:"entries"`
	}
	return w.judge(ctx, wire.Call{What: "probe files", Method: http.MethodGet, Max: 4 * wire.MaxOne,
		URL:     w.At(id, "files") + "?" + url.Values{"path": {path}}.Encode(),
		Timeout: within + wire.Margin}, &in, func() wire.ProbePart {
		if in.Entries == nil {
			return wire.Unclear("200 with something that is no file list")
		}
		return wire.Listed(len(in.Entries))
	})
}

// judge makes a call into a sandbox and tells what its answer means; good judges what was
// read into v.
func (w *worker) judge(ctx context.Context, k wire.Call, v any, good func() wire.ProbePart) wire.ProbePart {
	k.Inside = true
	return w.Judge(ctx, k, wire.Judge{Outcome: outcome, Good: func(a wire.Answer, _ wire.APIError) (wire.ProbePart, bool) {
		if a.Status != http.StatusOK || !wire.IsJSON(a.Header) {
			return wire.ProbePart{}, false
		}
		_ = wire.Unmarshal(a.Body, v) // what could not be read is empty
		return good(), true
	}})
}

// outcome judges an answer that is no success. Only what the Worker says, in JSON, of the
// container speaks against the sandbox; a page comes from what stands before the Worker.
func outcome(a wire.Answer, said wire.APIError) reconcile.ProbeOutcome {
	switch {
	case !wire.IsJSON(a.Header):
	case a.Status == http.StatusGatewayTimeout, said.Code == "timeout":
		return reconcile.Hung
	case a.Status == http.StatusBadGateway, said.Code == "no_such_path":
		return reconcile.CannotStart
	case a.Status == http.StatusConflict:
		return reconcile.NotAllowed
	}
	return reconcile.Infrastructure
}
