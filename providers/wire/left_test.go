package wire_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// TestLeft: what limiters say is left in a control-plane answer is told, and what is no number is not.
func TestLeft(t *testing.T) {
	got := map[string]float64{}
	p := over(t, &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
		for name, said := range map[string]string{
			"X-RateLimit-Remaining": "41", "X-RateLimit-Remaining-Sandbox-Create": "7", "RateLimit-Remaining-Odd": "many",
			"X-RateLimit-Remaining-Debt": "-1", "X-RateLimit-Limit": "100",
		} {
			w.Header().Set(name, said)
		}
		sendJSON(w, http.StatusOK, one)
	}}, func(_ *entry.Entry, o *entry.Options, _ *wire.Dialect) {
		o.Left = func(limiter string, calls float64) { got[limiter] = calls }
	})
	if err := p.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := map[string]float64{"": 41, "sandbox-create": 7}; !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}
