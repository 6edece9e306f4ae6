//go:build nomcp

package serve

import "net/http"

// agents are left out of this build.
type agents struct{}

func newAgents(*documents, *proposer, string) *agents { return &agents{} }

func (s *agents) read(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "this program was built without the Model Context Protocol (-tags nomcp)", http.StatusNotImplemented)
}

func (s *agents) offer(w http.ResponseWriter, r *http.Request) { s.read(w, r) }
