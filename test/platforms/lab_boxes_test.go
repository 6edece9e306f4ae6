package platforms

import (
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

const builder = "registry.test/builder:1"

// TestClassesOfBoxes: what owns.except names is nobody's to end although labels say that it is ours, and so is what
// waits in a pool, by its label or by a row. What misses the class by a letter, or whose row is gone, is a leak.
func TestClassesOfBoxes(t *testing.T) {
	p := labOf(t, labTasks+labFail+"  explained_by: [{table: public.warm, key: box, name: true}]\n"+`providers:
  - name: engine
    kind: docker
    url: ${PROVIDER_URL}
    owns:
      labels: {app: lab}
      exclusive: true
      except: {labels: {role: gateway, tier: front}, without_label: team, name_prefix: lab-build-, templates: ["`+builder+`"]}
      spares: {labels: {pool: warm}}
    link: {task_label: job, required: true}
rules: {orphan: {after: 5m}, finished-lingering: {after: 20m}}
`, engine)
	p.gaps = slices.Repeat([]time.Duration{122 * time.Second}, 5)
	p.play(t, stories{"boxes of each class beside others": func(w *world) {
		labCompany(w)
		w.cloud.PutTemplate(simulated.Template{Name: builder, General: true})
		w.needed("a gateway", labBox(w, "gate", map[string]string{"role": "gateway", "tier": "front"}))
		alone := labBox(w, "alone", map[string]string{})
		w.cloud.Change(alone, func(s *simulated.Sandbox) { delete(s.Labels, "team") })
		w.needed("what has no team", alone)
		w.needed("a builder by its name", labBox(w, "build-7", map[string]string{}))
		made := labBox(w, "made", map[string]string{})
		w.cloud.Change(made, func(s *simulated.Sandbox) { s.Template = builder })
		w.needed("a builder by its image", made)
		w.needed("a spare by its label", labBox(w, "spare", map[string]string{"pool": "warm"}))
		w.needed("a spare by its row", labBox(w, "shelf", map[string]string{}))
		w.sql("INSERT INTO warm VALUES ('lab-shelf'), ('lab-sold')")

		leaks := map[string]string{
			"half a gateway":          labBox(w, "half", map[string]string{"role": "gateway"}),
			"one of another name":     labBox(w, "built", map[string]string{}),
			"one of another pool":     labBox(w, "cold", map[string]string{"pool": "cold"}),
			"one whose row was taken": labBox(w, "sold", map[string]string{}),
			"a spare of a lost task":  labBox(w, "took", map[string]string{"pool": "warm", "job": "j-nobody"}),
		}
		w.then(2, func() { w.sql("DELETE FROM warm WHERE box = 'lab-sold'") })
		for what, box := range leaks {
			w.ends(what, box)
		}
		job, box := labJob(w, "over", row{"status": "done", "written": 28 * time.Minute})
		w.cloud.Change(box, func(s *simulated.Sandbox) { s.Labels["pool"] = "warm" })
		w.becomes("a job that is over", job, "status || coalesce(note, '')", "^done$")
		w.ends("a spare that was taken, and whose job is over", box)
	}})
}
