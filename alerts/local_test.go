package alerts

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestHistogramsAreNativeToo: a Prometheus that asks for them gets native histograms, all others classic ones.
func TestHistogramsAreNativeToo(t *testing.T) {
	l := NewLocal()
	l.Request("daytona", "list", "200", 40*time.Millisecond)
	l.Phase("full", "listing", time.Second)
	all := prometheus.NewRegistry()
	all.MustRegister(l)
	families, err := all.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				found++
				if h.Schema == nil || len(h.GetPositiveSpan()) == 0 || len(h.GetBucket()) == 0 || h.GetSampleCount() != 1 {
					t.Errorf("%s is not both native and classic: %v", f.GetName(), h)
				}
			}
		}
	}
	if found != 2 {
		t.Errorf("%d histograms, want 2", found)
	}
}

// TestLeft: what a limiter said counts for some minutes, and no provider makes series without end.
func TestLeft(t *testing.T) {
	now := noon
	l := NewLocal()
	l.left = newLeftovers(func() time.Time { return now })
	l.Left("daytona", "", 40)
	l.Left("daytona", "sandbox-create", 7)
	l.Left("daytona", "sandbox-create", 6)
	shown := func() map[string]float64 {
		o := options()
		o.Local = l
		_, found := scrape(t, Handler(&desk{says: full()}, o))
		maps.DeleteFunc(found, func(series string, _ float64) bool { return !strings.HasPrefix(series, "provider_rate_left{") })
		return found
	}
	want := map[string]float64{`provider_rate_left{limiter="requests",provider="daytona"}`: 40,
		`provider_rate_left{limiter="sandbox-create",provider="daytona"}`: 6}
	if got := shown(); !maps.Equal(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
	for i := range 100 {
		l.Left("daytona", fmt.Sprint("limiter-", i), 1)
	}
	if n := len(shown()); n != mostLimiters {
		t.Errorf("%d series of one provider, want %d", n, mostLimiters)
	}
	now = now.Add(leftCounts)
	if got := shown(); len(got) > 0 {
		t.Errorf("old words are shown: %v", got)
	}
}
