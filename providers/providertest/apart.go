package providertest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// calls are the calls of the control plane that the adapter has, each of a sandbox that is
// there, with their errors.
func (l *lab) calls(seen reconcile.Sandbox) map[string]func(context.Context) error {
	out := map[string]func(context.Context) error{
		"List": func(ctx context.Context) error {
			_, err := l.Provider.List(ctx, func([]reconcile.Sandbox) error { return nil })
			return err
		},
		"Get": func(ctx context.Context) error { _, err := l.Provider.Get(ctx, seen.ID); return err },
	}
	if l.Can.Labels {
		out["Find"] = func(ctx context.Context) error { _, err := l.Provider.Find(ctx, "t1"); return err }
	}
	if !l.Can.ReadOnly {
		out["Terminate"] = func(ctx context.Context) error {
			return said(l.Provider.Terminate(ctx, seen))
		}
	}
	can := reconcile.CapabilitiesOf(l.Provider)
	if p := can.Suspender; p != nil {
		out["Suspend"] = func(ctx context.Context) error { return said(p.Suspend(ctx, seen)) }
		out["Resume"] = func(ctx context.Context) error { return p.Resume(ctx, seen) }
	}
	if p := can.Templates; p != nil {
		out["Template"] = func(ctx context.Context) error { _, err := p.Template(ctx, "base"); return err }
	}
	if p := can.Executions; p != nil {
		out["Executions"] = func(ctx context.Context) error { _, err := p.Executions(ctx, seen); return err }
	}
	return out
}

// errSaid is a termination where there should be none.
var errSaid = errors.New("a termination was told")

// said is the error of a change, which must tell no termination beside it.
func said(how reconcile.Termination, err error) error {
	if how != "" {
		return errors.Join(err, errSaid)
	}
	return err
}

// inOrder are the calls' names, always in the same order.
func inOrder(calls map[string]func(context.Context) error) []string {
	return slices.Sorted(maps.Keys(calls))
}

// tellsApart: each call tells a refused credential, a limit and a breakdown apart, and none
// of them from what is not there.
func tellsApart(l *lab) {
	const page = "text/html; charset=utf-8"
	for name, test := range map[string]struct {
		fault simulated.Fault
		want  error // nil: none of the sentinels
	}{
		"a 401":              {simulated.Fault{Status: http.StatusUnauthorized}, reconcile.ErrUnauthorized},
		"a 403":              {simulated.Fault{Status: http.StatusForbidden}, reconcile.ErrUnauthorized},
		"a 429":              {simulated.Fault{Status: 429, Header: anHour()}, reconcile.ErrThrottled},
		"a 500":              {simulated.Fault{Status: 500}, nil},
		"a 502":              {simulated.Fault{Status: 502}, nil},
		"a 503":              {simulated.Fault{Status: 503}, nil},
		"a cut connection":   {simulated.Fault{Effect: simulated.Drop}, nil},
		"a page":             {simulated.Fault{Status: 200, ContentType: page, Body: "<html>"}, nil},
		"a 404 that is none": {simulated.Fault{Status: 404, ContentType: page, Body: "<html>"}, nil},
	} {
		if test.fault.Effect == simulated.None {
			test.fault.Effect = simulated.Answer
		}
		l.t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := l.lab(t)
			calls := fresh.calls(fresh.get(fresh.put("t1", simulated.Sandbox{}).ID))
			fresh.World.Inject(test.fault)
			patience := time.Minute
			if test.want == nil {
				patience = 300 * time.Millisecond // for no long line of repeats
			}
			if l.Can.TemplateHidden && test.fault.Status == http.StatusForbidden {
				delete(calls, "Template")
			}
			for _, call := range inOrder(calls) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				fresh.means(call+" with "+name, calls[call](ctx), test.want)
				cancel()
			}
		})
	}
}

func anHour() map[string]string { return map[string]string{"Retry-After": "3600"} }

// means fails the test unless the error is the wanted sentinel, and none of the others.
func (l *lab) means(what string, err, want error) {
	l.t.Helper()
	for _, sentinel := range []error{reconcile.ErrUnauthorized, reconcile.ErrThrottled, reconcile.ErrNotFound, errSaid} {
		if is := errors.Is(err, sentinel); is != errors.Is(want, sentinel) {
			l.t.Errorf("%s: error %v, is %q %t; want %v", what, err, sentinel, is, want)
		}
	}
	if err == nil {
		l.t.Errorf("%s: no error", what)
	}
}

// throttled: whatever the form in which a provider asks to wait, it is not asked again
// before.
func throttled(l *lab) {
	later := l.World.Now().Add(time.Hour)
	forms := []map[string]string{
		anHour(),
		{"Retry-After": "3600.5"},
		{"Retry-After": later.Format(http.TimeFormat)}, // by the provider's clock, not by ours
		{"Retry-After": "1", "Retry-After-Sandbox-Lifecycle": "3600"},
	}
	if l.Throttles != nil {
		forms = append(forms, l.Throttles(l.World.Now())...)
	}
	for _, header := range forms {
		fresh := l.lab(l.t)
		s := fresh.put("t1", simulated.Sandbox{})
		fresh.World.Inject(simulated.Fault{Count: 1, Effect: simulated.Answer, Status: 429, Header: header})
		for range 3 {
			_, err := fresh.Provider.Get(l.t.Context(), s.ID)
			fresh.means("Get after a 429", err, reconcile.ErrThrottled)
		}
		if calls := fresh.World.Calls(); len(calls) != 1 {
			l.t.Errorf("a 429 with %v was followed by %d more calls, want none", header, len(calls)-1)
		}
	}
	fresh := l.lab(l.t)
	s := fresh.put("t1", simulated.Sandbox{})
	fresh.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 429,
		Header: map[string]string{"Retry-After": "29"}})
	ctx, cancel := context.WithTimeout(l.t.Context(), 28*time.Second)
	defer cancel()
	_, err := fresh.Provider.Get(ctx, s.ID)
	fresh.means("Get without the time to wait", err, reconcile.ErrThrottled)
	if calls := fresh.World.Calls(); len(calls) != 1 || ctx.Err() != nil {
		l.t.Errorf("Get without the time to wait made %d calls, %v; want 1, and the answer at once", len(calls), ctx.Err())
	}
}

// revoked: a key that was refused is not sent again, by no call, for a while.
func revoked(l *lab) {
	seen := l.get(l.put("t1", simulated.Sandbox{}).ID)
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: http.StatusUnauthorized})
	_, err := l.Provider.Get(l.t.Context(), seen.ID)
	l.means("Get with a revoked key", err, reconcile.ErrUnauthorized)
	l.World.ResetCalls()
	calls := l.calls(seen)
	for range 3 {
		for _, call := range inOrder(calls) {
			l.means(call+" with a revoked key", calls[call](l.t.Context()), reconcile.ErrUnauthorized)
		}
		got := l.Provider.Probe(l.t.Context(), seen, policy())
		if got.Outcome.Failed() || got.Outcome == reconcile.Answered {
			l.t.Errorf("Probe with a revoked key = %+v, want nothing known", got)
		}
	}
	if calls := l.World.Calls(); len(calls) != 0 {
		l.t.Errorf("a revoked key was sent %d times more, want not at all", len(calls))
	}
}

// floods: an answer without an end is given up for its size, before its time is over. It is
// no answer, and nothing that speaks against a sandbox.
func floods(l *lab) {
	for _, effect := range []simulated.Effect{simulated.Flood, simulated.FloodPacked} {
		l.t.Run(string(effect), func(t *testing.T) {
			fresh := l.lab(t)
			seen := fresh.get(fresh.put("t1", simulated.Sandbox{}).ID)
			fresh.World.Inject(simulated.Fault{Effect: effect})
			calls := fresh.calls(seen)
			some := inOrder(calls)
			if raced.On {
				some = []string{"List"} // what is read is read by one function, and slowly
			}
			for _, call := range some {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				fresh.means(call+" of a flood", calls[call](ctx), nil)
				late := ctx.Err()
				cancel()
				if late != nil {
					t.Fatalf("%s of a flood was still reading after 100 MB", call)
				}
			}
			patient := policy()
			patient.Timeout = 2 * time.Minute
			if got := fresh.Provider.Probe(t.Context(), seen, patient); got.Outcome.Failed() ||
				got.Outcome == reconcile.Answered {
				t.Errorf("Probe of a flood = %+v, want nothing known", got)
			}
		})
	}
}
