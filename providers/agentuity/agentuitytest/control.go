package agentuitytest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (s controls) controlRoutes(handle router) {
	handle("GET /sandbox", simulated.List, s.list)
	handle("POST /sandbox", simulated.Create, s.create)
	handle("GET /sandbox/{id}", simulated.Get, s.get)
	handle("GET /sandbox/status/{id}", simulated.Get, s.status)
	handle("DELETE /sandbox/{id}", simulated.Delete, s.destroy)
	handle("POST /sandbox/{id}/pause", simulated.Stop, s.pause)
	handle("POST /sandbox/{id}/resume", simulated.Start, s.resume)
	handle("PATCH /sandbox/env/{id}", simulated.Label, s.env)
	handle("GET /services/stats/{org}", simulated.AccountOf, s.stats)
	handle("GET /cli/region", simulated.AccountOf, s.regions)
	handle("GET /cli/sandbox", simulated.List, s.listAll)
	handle("GET /cli/sandbox/{id}", simulated.Get, s.resolve)
}

// rows are the sandboxes of a listing as a fault makes them, in the order that is asked for.
// A number of rows stands for the page's place: who deletes moves all that follow.
func (s controls) rows(q *request, region string) []simulated.Sandbox {
	v := q.R.URL.Query()
	all, _ := s.world.Page(simulated.Query{Limit: 1 << 30}, q.Fault)
	all = slices.DeleteFunc(all, func(b simulated.Sandbox) bool {
		return region != "" && s.home(b) != region ||
			v.Get("name") != "" && b.FormerName() != v.Get("name") ||
			v.Get("projectId") != "" && b.Labels[projectLabel] != v.Get("projectId") && q.Fault.Effect != simulated.LoseLabels ||
			v.Get("status") != "" && word(b) != v.Get("status") ||
			v.Get("live") == "true" && b.State != reconcile.SandboxRunning ||
			v.Get("snapshotId") != "" && snapshotID(b.Template) != v.Get("snapshotId") ||
			v.Get("deletedOnly") == "true"
	})
	if v.Get("sort") == "name" {
		slices.SortStableFunc(all, func(a, b simulated.Sandbox) int { return strings.Compare(a.Name, b.Name) })
	}
	if v.Get("direction") != "asc" {
		slices.Reverse(all)
	}
	return all
}

// part cuts a page out of a listing, and says how many rows there are in all.
func part(q *request, all []simulated.Sandbox) (page []simulated.Sandbox, total int) {
	limit, offset := paging(q.R)
	switch q.Fault.Effect {
	case simulated.SameCursor:
		return all[:min(limit, len(all))], len(all) + 1000 // the same rows again, and more are promised
	case simulated.Repeat:
		offset = max(0, offset-limit/2)
	}
	from := min(offset, len(all))
	return all[from:min(from+limit, len(all))], len(all)
}

func (s controls) list(q *request) {
	page, total := part(q, s.rows(q, q.region))
	items := make([]map[string]any, len(page))
	for i, b := range page {
		items[i] = s.item(q, b)
		if q.Fault.Effect == simulated.LoseLabels {
			delete(items[i], "name")
		}
	}
	q.data(http.StatusOK, map[string]any{"sandboxes": items, "total": total})
}

func (s controls) listAll(q *request) {
	page, total := part(q, s.rows(q, ""))
	items := make([]map[string]any, len(page))
	for i, b := range page {
		items[i] = s.brief(b)
		items[i]["description"], items[i]["createdAt"], items[i]["orgName"] = nil, stamp(b.CreatedAt), "Lab"
	}
	q.data(http.StatusOK, map[string]any{"sandboxes": items, "total": total})
}

// brief is a sandbox as the control plane knows it.
func (s controls) brief(b simulated.Sandbox) map[string]any {
	var project any
	if id := b.Labels[projectLabel]; id != "" {
		project = id
	}
	return map[string]any{"id": b.ID, "name": b.FormerName(), "status": word(b), "region": s.home(b), "orgId": s.o.Org,
		"projectId": project}
}

func (s controls) resolve(q *request) {
	b, err := s.look(q.id)
	if err != nil {
		s.failed(q, err)
		return
	}
	q.data(http.StatusOK, s.brief(b))
}

func (s controls) regions(q *request) {
	out := make([]map[string]any, len(s.o.Regions))
	for i, r := range s.o.Regions {
		out[i] = map[string]any{"region": r, "description": "Region " + r}
	}
	q.data(http.StatusOK, out)
}

// find is the sandbox that a get is for: one that has ended only when that is asked for.
func (s controls) find(q *request) (simulated.Sandbox, error) {
	b, err := s.look(q.id)
	if err != nil && q.R.URL.Query().Get("includeDeleted") == "true" {
		if dead, ok := s.world.Sandbox(q.id); ok {
			dead.Gone = true
			return dead, nil
		}
	}
	return b, err
}

// mostWait bounds how long an answer is held back, whatever is asked for.
const mostWait = 5 * time.Second

func (s controls) get(q *request) {
	b, err := s.awaited(q)
	if err != nil {
		s.failed(q, err)
		return
	}
	q.data(http.StatusOK, s.whole(q, b))
}

func (s controls) status(q *request) {
	b, err := s.awaited(q)
	if err != nil {
		s.failed(q, err)
		return
	}
	q.data(http.StatusOK, map[string]any{"sandboxId": b.ID, "status": word(b)})
}

// awaited holds the answer back until the sandbox has a state that is waited for.
func (s controls) awaited(q *request) (simulated.Sandbox, error) {
	v := q.R.URL.Query()
	ms, _ := strconv.Atoi(v.Get("waitMs"))
	b, err := s.find(q)
	if v.Get("waitForStatus") != "" {
		q.until(min(time.Duration(ms)*time.Millisecond, mostWait), func() bool {
			b, err = s.find(q)
			return err != nil || slices.Contains(strings.Split(v.Get("waitForStatus"), ","), word(b))
		})
	}
	return b, err
}

// until waits for something, no longer than told.
func (q *request) until(most time.Duration, done func() bool) {
	for end := time.Now().Add(most); !done() && time.Now().Before(end) && q.R.Context().Err() == nil; {
		time.Sleep(10 * time.Millisecond)
	}
}

// change looks the sandbox up by its id, which names are not, and changes it.
func (s controls) change(q *request, do func(string) (simulated.Sandbox, error)) (simulated.Sandbox, error) {
	b, err := s.look(q.id)
	if err != nil || q.Fault.Effect == simulated.NotDone {
		return b, err
	}
	return do(q.id)
}

func (s controls) destroy(q *request) {
	if _, err := s.change(q, s.world.Destroy); err != nil {
		s.failed(q, err)
		return
	}
	q.JSON(http.StatusOK, map[string]any{"success": true})
}

// pause answers at the top level, and 409 in a wrong state.
func (s controls) pause(q *request) {
	b, err := s.change(q, s.world.Pause)
	if wrongState(err) {
		q.fail(http.StatusConflict, "", "sandbox is "+word(b)+" and cannot be paused")
		return
	}
	if err != nil {
		s.failed(q, err)
		return
	}
	q.JSON(http.StatusOK, map[string]any{"success": true, "sandboxId": b.ID, "status": word(b),
		"checkpointId": "ckpt_" + b.ID[max(0, len(b.ID)-12):], "terminatesAt": stamp(s.world.Now().Add(24 * time.Hour))})
}

func (s controls) resume(q *request) {
	b, err := s.change(q, s.world.Start)
	if wrongState(err) {
		q.fail(http.StatusConflict, "", "sandbox is "+word(b)+" and cannot be resumed")
		return
	}
	if err != nil {
		s.failed(q, err)
		return
	}
	q.JSON(http.StatusOK, map[string]any{"success": true})
}

func wrongState(err error) bool {
	_, no := err.(*simulated.Refused) //nolint:errorlint // the world returns it bare
	return no
}

// controls are what the control plane answers: sandboxes listed, made, changed and ended.
type controls struct{ *Server }

func (s *Server) controls() controls { return controls{s} }
