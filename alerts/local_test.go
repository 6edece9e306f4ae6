package alerts

import (
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
