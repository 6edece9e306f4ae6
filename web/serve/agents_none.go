//go:build nomcp

package serve

import "net/http"

// agents are left out of this build.
type agents struct{}

func newAgents(*site) *agents { return &agents{} }

func (s *site) agentsRead(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "this program was built without the Model Context Protocol (-tags nomcp)", http.StatusNotImplemented)
}

func (s *site) agentsPropose(w http.ResponseWriter, r *http.Request) { s.agentsRead(w, r) }
