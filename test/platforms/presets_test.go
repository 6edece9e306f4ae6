package platforms

import (
	"testing"
	"time"
)

// TestPresets are the worlds of six platforms under their presets, enforced with open budgets: what is healthy stays as it
// is, alone and together, and what is broken is found.
func TestPresets(t *testing.T) {
	for name, p := range map[string]struct {
		provider        string
		vendor          vendor
		healthy, broken stories
	}{
		"coder":      {coderCluster("{task_label: com.coder.workspace.id}"), cluster, coderHealthy(), coderBroken()},
		"garm":       {garmCluster, cluster, garmHealthy(), garmBroken()},
		"kortix":     {kortixDaytona, daytona, kortixHealthy(), kortixBroken()},
		"openhands":  {openhandsEngine, engine, openhandsHealthy(), openhandsBroken()},
		"prefect":    {prefectCluster, jobs, prefectHealthy(), prefectBroken()},
		"triggerdev": {triggerCluster, cluster, triggerHealthy(), triggerBroken()},
	} {
		t.Run(name, func(t *testing.T) {
			world := naive(t, name, "tasks: {preset: "+name+"}\n", p.provider, p.vendor)
			world.play(t, p.healthy)
			world.play(t, p.healthy.together())
			world.play(t, p.broken)
		})
	}
}

// TestPresetsRepair: what a preset writes is what the platform's own code would.
func TestPresetsRepair(t *testing.T) {
	naive(t, "garm", "tasks: {preset: garm}\n", garmCluster, cluster).play(t, stories{
		"a runner's Pod is gone": func(w *world) {
			garmCompany(w)
			t, box := garmAtWork(w, 20*time.Minute)
			w.then(2, func() { w.vanish(box) })
			w.becomes("a runner without its Pod", t, "status || ' ' || convert_from(provider_fault, 'UTF8')",
				`^pending_delete sandbox is gone: .* \[sandkeeper `)
		},
		"a runner is created for two hours and nothing exists": func(w *world) {
			garmCompany(w)
			w.becomes("a runner that is never created", garmRunner(w, "creating", "pending", 2*time.Hour, row{"provider_id": nil}),
				"status", "^pending_delete$")
		},
		"a runner is to be deleted for three hours and its Pod runs on": func(w *world) {
			garmCompany(w)
			t := garmRunner(w, "pending_delete", "terminated", 3*time.Hour, nil)
			w.told("stop-ignored", garmPod(w, "garm-"+t.id[:12], 5*time.Hour))
		},
	})
	naive(t, "openhands", "tasks: {preset: openhands}\n", openhandsEngine, engine).play(t, stories{
		"a set-up's sandbox is gone": func(w *world) {
			openhandsCompany(w)
			box, name := openhandsContainer(w, age(2*time.Minute, time.Minute))
			t := openhandsStart(w, "PREPARING_REPOSITORY", name, 10*time.Second)
			w.then(2, func() { w.vanish(box) })
			w.becomes("a start whose sandbox is gone", t, "status::text || ' ' || detail", `^ERROR sandbox is gone: .* \[sandkeeper `)
		},
	})
}
