package vercel_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/providertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The suite runs over real HTTP. Nothing in it may ask to resume.
func TestConformance(t *testing.T) {
	deletes := vercel.Abilities
	deletes.States = append([]reconcile.SandboxState{reconcile.SandboxStopped, reconcile.SandboxFailed},
		deletes.States...)
	slow := vercel.Abilities
	slow.EndsAtOnce = false
	for name, test := range map[string]struct {
		can  wire.Abilities
		ends string
	}{
		"a stop ends the session at once": {vercel.Abilities, ""},
		"a stop takes its time":           {slow, "session"},
		"a terminate deletes the record":  {deletes, "record"},
	} {
		t.Run(name, func(t *testing.T) {
			providertest.Suite{Can: test.can, Throttles: throttles,
				Open: func(t *testing.T) providertest.Harness { return open(t, test.can, test.ends) }}.Run(t)
		})
	}
}

func open(t *testing.T, can wire.Abilities, ends string) providertest.Harness {
	world, clock := providertest.World(can, func(o *simulated.Options) { o.IDs = verceltest.ID })
	e := providertest.Entry("vercel", can)
	e.Extra = map[string]string{"team": verceltest.Team, "project": verceltest.Project, "terminate": ends}
	server := httptest.NewServer(wakesNothing(t, verceltest.New(world,
		verceltest.Options{Key: e.Token, TaskLabel: "task_id"})))
	t.Cleanup(server.Close)
	e.URL = server.URL
	p, err := vercel.New(e, entry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return providertest.Harness{Provider: p, World: world, Clock: clock}
}

// harmless are all the calls that the adapter may make: none of them starts a machine, makes
// its time longer, or changes a sandbox without ending it.
var harmless = regexp.MustCompile(`^(GET /v2/sandboxes(/.*)?|POST /v2/sandboxes/sessions/[^/]+/(stop|cmd|fs/read)|` +
	`DELETE /v2/sandboxes/[^/]+|POST /v2/sandboxes)$`) // the last makes a canary

// wakesNothing fails the test at any request that would start a machine that is there, or keep one.
func wakesNothing(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Has("resume") && q.Get("resume") != "false" || !harmless.MatchString(r.Method+" "+r.URL.EscapedPath()) {
			t.Errorf("%s %s may start or keep a machine", r.Method, r.URL)
		}
		next.ServeHTTP(w, r)
	})
}

// throttles are the vendor's own header, as a moment and as a wait.
func throttles(now time.Time) []map[string]string {
	return []map[string]string{
		{"X-RateLimit-Reset": strconv.FormatInt(now.Add(time.Hour).Unix(), 10)},
		{"X-RateLimit-Reset": "3600"},
	}
}

// A token that was revoked is answered with 403, and not sent again: unlike one that only
// lacks a right.
func TestRevokedToken(t *testing.T) {
	for name, test := range map[string]struct {
		token, team string
		calls       int
	}{
		"a revoked token": {"an-old-key", verceltest.Team, 1},
		"another team":    {"secret-key", "team_2", 3},
	} {
		world, _ := providertest.World(vercel.Abilities)
		server := httptest.NewServer(verceltest.New(world, verceltest.Options{Key: "secret-key"}))
		t.Cleanup(server.Close)
		e := providertest.Entry("vercel", vercel.Abilities)
		e.URL, e.Token = server.URL, test.token
		e.Extra = map[string]string{"team": test.team, "project": verceltest.Project}
		p, err := vercel.New(e, entry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := p.Get(t.Context(), verceltest.ID(1)); !errors.Is(err, reconcile.ErrUnauthorized) {
				t.Errorf("%s: Get = %v, want ErrUnauthorized", name, err)
			}
		}
		if calls := len(world.Calls()); calls != test.calls {
			t.Errorf("%s: %d calls, want %d", name, calls, test.calls)
		}
	}
}
