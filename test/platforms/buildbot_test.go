package platforms

import (
	"fmt"
	"testing"
	"time"
)

// buildbotTasks are the requests of Buildbot: its results are numbers and its times are seconds, what runs is the newest
// build of a request, and its container is its worker's. What restarts one is what Buildbot does when a worker is lost:
// the build gets the result RETRY, and the claim of the request is given back.
const buildbotTasks = `tasks:
  from: |
    SELECT r.id, to_timestamp(r.submitted_at) AS submitted, to_timestamp(b.started_at) AS started,
           to_timestamp(coalesce(r.complete_at, b.complete_at, b.started_at, c.claimed_at, r.submitted_at)) AS since,
           to_timestamp(r.complete_at) AS completed, to_timestamp(m.last_active) AS master_seen,
           'buildbot-' || w.name AS container, (SELECT count(*) FROM public.builds o WHERE o.buildrequestid = r.id) AS attempts,
           CASE WHEN r.complete = 1 THEN r.results::int
                WHEN c.brid IS NULL THEN -1
                WHEN b.id IS NULL OR b.complete_at IS NOT NULL THEN -2
                ELSE -3 END AS status
    FROM public.buildrequests r
    LEFT JOIN public.buildrequest_claims c ON c.brid = r.id
    LEFT JOIN public.masters m ON m.id = c.masterid
    LEFT JOIN LATERAL (SELECT * FROM public.builds o WHERE o.buildrequestid = r.id ORDER BY o.id DESC LIMIT 1) b ON true
    LEFT JOIN public.workers w ON w.id = b.workerid
  table: public.buildrequests
  columns:
    id: id
    status: status
    sandbox: container
    created_at: submitted
    started_at: started
    state_since: since
    ended_at: completed
    keep_alive_until: (completed + interval '1 hour')
    attempts: attempts
    max_attempts: (5)
  statuses:
    pending: ["-1"]
    assigned: ["-2"]
    running: ["-3"]
    completed: ["0", "1", "3"]
    failed: ["2", "4"]
    stopped: ["6"]
  fail:
    set: {complete: "1", results: "4", complete_at: "extract(epoch FROM @now)::int"}
    sql:
      - UPDATE public.builds SET complete_at = extract(epoch FROM @now)::int, results = 4, state_string = @reason WHERE buildrequestid = @id::int AND complete_at IS NULL
  requeue:
    sql:
      - UPDATE public.builds SET complete_at = extract(epoch FROM @now)::int, results = 5, state_string = @reason WHERE buildrequestid = @id::int AND complete_at IS NULL
      - DELETE FROM public.buildrequest_claims WHERE brid = @id::int
rules:
  sandbox-missing: {remedy: requeue}
  pending-stuck: {after: 2h}
`

const buildbotEngine = `providers:
  - name: engine
    kind: docker
    url: ${PROVIDER_URL}
    owns: {name_prefix: buildbot-}
    link: {sandbox: name}
`

// buildbotWorker adds a latent worker with its container.
func buildbotWorker(w *world, created time.Duration) (worker int64, box string) {
	name := "docker-" + newID()[:8]
	w.one(&worker, "INSERT INTO workers (name) VALUES ($1) RETURNING id", name)
	s := age(created, time.Minute)
	s.Name, s.Template = "buildbot-"+name, image
	return worker, w.cloud.Put(s).ID
}

// buildbotRequest adds a request; claimed says that a master has it.
func buildbotRequest(w *world, submitted time.Duration, claimed bool) (t task) {
	var id int64
	w.sql("INSERT INTO masters (id, name, active, last_active) VALUES (1, 'm', 1, $1) ON CONFLICT (id) DO NOTHING", epoch(0))
	w.sql("INSERT INTO builders (id, name) VALUES (1, 'linux') ON CONFLICT (id) DO NOTHING")
	w.one(&id, "INSERT INTO buildrequests (buildsetid, builderid, submitted_at) VALUES (1, 1, $1) RETURNING id", epoch(submitted))
	if claimed {
		w.sql("INSERT INTO buildrequest_claims VALUES ($1, 1, $2)", id, epoch(submitted))
	}
	return task{"public.buildrequests", "id", fmt.Sprint(id)}
}

func buildbotBuild(w *world, t task, worker any, started time.Duration, results any) {
	var over any
	if results != nil {
		over = epoch(started - time.Minute)
	}
	w.sql(`INSERT INTO builds (number, builderid, buildrequestid, workerid, masterid, started_at, complete_at, state_string, results)
		VALUES (1, 1, $1::int, $2, 1, $3, $4, 'building', $5)`, t.id, worker, epoch(started), over, results)
}

// buildbotAtWork is a request that is built.
func buildbotAtWork(w *world, what string, began time.Duration) (task, string) {
	worker, box := buildbotWorker(w, began+20*time.Second)
	t := buildbotRequest(w, began+time.Minute, true)
	buildbotBuild(w, t, worker, began, nil)
	if what != "" {
		w.healthy(what, t, box)
	}
	return t, box
}

func buildbotCompany(w *world) {
	for range 3 {
		buildbotAtWork(w, "a build beside it", 20*time.Minute)
	}
}

// TestBuildbot are worlds of Buildbot on Docker.
func TestBuildbot(t *testing.T) {
	p := naive(t, "buildbot", buildbotTasks, buildbotEngine, engine)
	p.epochs = []string{"buildrequests.submitted_at", "buildrequests.complete_at", "buildrequest_claims.claimed_at",
		"builds.started_at", "builds.complete_at"}
	p.play(t, buildbotHealthy())
	p.play(t, buildbotHealthy().together())
	p.play(t, buildbotBroken())
}

func buildbotHealthy() stories {
	return stories{
		"the mapping is as check wants it": func(w *world) {
			buildbotCompany(w)
			w.checked()
		},
		"a build says nothing for five hours": func(w *world) {
			buildbotCompany(w)
			buildbotAtWork(w, "a long build", 5*time.Hour)
		},
		"requests wait for a worker": func(w *world) {
			buildbotCompany(w)
			w.healthy("a request that waits", buildbotRequest(w, 40*time.Minute, false))
		},
		"a request was claimed a minute ago": func(w *world) {
			buildbotCompany(w)
			w.healthy("a claimed request", buildbotRequest(w, time.Minute, true))
		},
		"a build is over and its container is kept for the next": func(w *world) {
			buildbotCompany(w)
			worker, box := buildbotWorker(w, 40*time.Minute)
			t := buildbotRequest(w, 40*time.Minute, true)
			buildbotBuild(w, t, worker, 30*time.Minute, 0)
			w.sql("UPDATE buildrequests SET complete = 1, results = 0, complete_at = $2 WHERE id::text = $1", t.id, epoch(10*time.Minute))
			w.healthy("a build that is over", t, box)
		},
		"a worker is used again by the next request": func(w *world) {
			buildbotCompany(w)
			worker, box := buildbotWorker(w, 9*time.Hour)
			before := buildbotRequest(w, 9*time.Hour, true)
			buildbotBuild(w, before, worker, 8*time.Hour, 0)
			w.sql("UPDATE buildrequests SET complete = 1, results = 0, complete_at = $2 WHERE id::text = $1", before.id, epoch(7*time.Hour))
			t := buildbotRequest(w, 20*time.Minute, true)
			buildbotBuild(w, t, worker, 10*time.Minute, nil)
			w.healthy("a build on a used worker", t, box)
			w.healthy("the build before it", before)
		},
		"a build was retried once and works": func(w *world) {
			buildbotCompany(w)
			worker, box := buildbotWorker(w, 30*time.Minute)
			t := buildbotRequest(w, 2*time.Hour, true)
			gone, _ := buildbotWorker(w, 2*time.Hour)
			w.sql("DELETE FROM connected_workers WHERE workerid = $1", gone)
			buildbotBuild(w, t, worker, 90*time.Minute, 5)
			buildbotBuild(w, t, worker, 20*time.Minute, nil)
			w.healthy("a build that was retried", t, box)
		},
	}
}

func buildbotBroken() stories {
	const again = `coalesce(complete, 0)::text || ' ' || (SELECT count(*) FROM buildrequest_claims c WHERE c.brid = buildrequests.id) || ' ' ||
		(SELECT results || ' ' || state_string FROM builds b WHERE b.buildrequestid = buildrequests.id ORDER BY b.id DESC LIMIT 1)`
	return stories{
		"a worker's container is gone": func(w *world) {
			buildbotCompany(w)
			t, box := buildbotAtWork(w, "", 30*time.Minute)
			w.then(2, func() { w.vanish(box) })
			w.becomes("a build whose container is gone", t, again, `^0 0 5 sandbox is gone: .*\[sandkeeper `)
		},
		"a request is claimed for three hours and nothing is built": func(w *world) {
			buildbotCompany(w)
			w.becomes("a request that is never built", buildbotRequest(w, 3*time.Hour, true), "complete::text || results", "^14$")
		},
		"a build is over and its container runs for five hours": func(w *world) {
			buildbotCompany(w)
			worker, box := buildbotWorker(w, 9*time.Hour)
			t := buildbotRequest(w, 9*time.Hour, true)
			buildbotBuild(w, t, worker, 8*time.Hour, 2)
			w.sql("UPDATE buildrequests SET complete = 1, results = 2, complete_at = $2 WHERE id::text = $1", t.id, epoch(5*time.Hour))
			w.ends("a build that is over", box)
		},
		"a request waits for five hours": func(w *world) {
			buildbotCompany(w)
			t := buildbotRequest(w, 5*time.Hour, false)
			w.healthy("a request that nothing takes", t)
			w.told("pending-stuck", t.id)
		},
		"a container is of no build for a day": func(w *world) {
			buildbotCompany(w)
			_, box := buildbotWorker(w, 30*time.Hour)
			w.found("a container of no build", box)
		},
	}
}
