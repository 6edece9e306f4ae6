package dockertest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// logs are there also when the container has ended.
func (s *Server) logs(x wiretest.Exchange) {
	b, err := s.find(x.R.PathValue("id"))
	if err != nil {
		s.failed(x, err)
		return
	}
	lines := strings.SplitAfter(b.Log, "\n")
	if n, err := strconv.Atoi(x.R.URL.Query().Get("tail")); err == nil && len(lines) > n+1 {
		lines = lines[len(lines)-n-1:]
	}
	x.W.Header().Set("Content-Type", "application/vnd.docker.raw-stream")
	_, _ = x.W.Write(framed(said{out: strings.Join(lines, "")}))
}

// stats are two samples, one second apart. Podman has no first one.
func (s *Server) stats(x wiretest.Exchange) {
	b, err := s.find(x.R.PathValue("id"))
	if err != nil {
		s.failed(x, err)
		return
	}
	u, trouble := s.world.Measure(b.ID)
	if trouble == simulated.Hung {
		x.Silence()
		return
	}
	const second = uint64(1e9)
	sample := func(used, system uint64) map[string]any {
		return map[string]any{"cpu_usage": map[string]any{"total_usage": used}, "system_cpu_usage": system, "online_cpus": 1,
			"throttling_data": map[string]any{"periods": 0, "throttled_periods": 0}}
	}
	out := map[string]any{
		"read": s.world.Now().UTC(), "preread": s.world.Now().UTC(), "id": b.ID, "name": "/" + b.Name,
		"cpu_stats": sample(second+uint64(u.CPUPercent*1e7), 2*second), "precpu_stats": sample(second, second),
		"memory_stats": map[string]any{"usage": u.MemoryUsed, "limit": u.MemoryTotal},
	}
	if s.o.Podman {
		out["precpu_stats"] = map[string]any{"cpu_usage": map[string]any{"total_usage": 0}}
	}
	x.JSON(http.StatusOK, out)
}

func (s *Server) image(x wiretest.Exchange) {
	name, ok := strings.CutSuffix(x.R.PathValue("name"), "/json")
	if !ok {
		s.nowhere(x.W, x.R)
		return
	}
	t, err := s.world.TemplateOf(name)
	switch {
	case err == nil && (t.State == reconcile.TemplateActive || t.State == reconcile.TemplateInactive):
		x.JSON(http.StatusOK, map[string]any{"Id": imageID(t.Name), "RepoTags": []string{t.Name},
			"Created": stamp(t.CreatedAt), "Os": "linux", "Architecture": "amd64", "Size": 2 << 20})
	case s.o.Podman:
		s.fail(x.W, x.R, http.StatusNotFound, "failed to find image "+name+": docker.io/library/"+name+": No such image")
	default:
		s.fail(x.W, x.R, http.StatusNotFound, "no such image: "+name+": No such image: "+name+":latest")
	}
}
