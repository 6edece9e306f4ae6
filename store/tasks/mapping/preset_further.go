package mapping

// A platformPreset is a platform of some class.
type platformPreset struct {
	shape   string
	mapping func() Mapping
}

// further are presets from what is public of six platforms: their schemas, and who writes what. Their worlds are in
// test/platforms.
var further = map[string]platformPreset{
	"coder":      {"workspace", coder},
	"garm":       {"runner-pool", garm},
	"kortix":     {"workspace", kortix},
	"openhands":  {"workspace", openhands},
	"prefect":    {"workflow", prefect},
	"triggerdev": {"workflow", triggerdev},
}

// coder is Coder: a workspace is what its newest build says, and Coder's own reaper repairs builds, because what ends
// one must copy its Terraform state.
func coder() Mapping {
	return Mapping{
		From: `SELECT w.id, w.name, w.owner_id, w.created_at, w.deleted, b.deadline, a.connected,
		       coalesce(j.completed_at, j.started_at, j.created_at) AS since,
		       CASE WHEN w.deleted THEN 'deleted' ELSE b.transition::text || '/' || j.job_status::text END AS status
		FROM public.workspaces w
		JOIN LATERAL (SELECT * FROM public.workspace_builds WHERE workspace_id = w.id
		              ORDER BY build_number DESC LIMIT 1) b ON true
		JOIN public.provisioner_jobs j ON j.id = b.job_id
		LEFT JOIN LATERAL (SELECT max(g.last_connected_at) AS connected FROM public.workspace_agents g
		                   JOIN public.workspace_resources r ON r.id = g.resource_id
		                   JOIN public.workspace_builds o ON o.job_id = r.job_id WHERE o.workspace_id = w.id) a ON true`,
		Columns: map[string]string{"id": "id", "status": "status", "created_at": "created_at", "state_since": "since",
			"sleeps_at": "deadline", "heartbeat_at": "connected"},
		Statuses: map[string][]string{
			"assigned": {"start/pending", "start/running"},
			"running":  {"start/succeeded"},
			"parked":   {"stop/pending", "stop/running", "stop/succeeded"},
			// A build that failed waits for its user; a prebuild's is left as evidence.
			"waiting": {"start/failed", "start/canceled", "start/canceling", "start/unknown", "stop/failed", "stop/canceled",
				"stop/canceling", "stop/unknown", "delete/pending", "delete/running", "delete/failed", "delete/canceled",
				"delete/canceling", "delete/unknown"},
			"completed": {"deleted", "delete/succeeded"},
		},
		Fail: RowChange{None: true}, Requeue: RowChange{None: true},
	}
}

// garm is GARM: a row is a machine and its runner. Who is given up becomes pending_delete, which is how its own reaper
// gives up and retries.
func garm() Mapping {
	return Mapping{
		Table: "public.instances",
		Columns: map[string]string{
			"id": "id",
			// A machine runs before its runner is installed, and an idle runner waits for a job.
			"state": "(CASE WHEN status IN ('pending_create') THEN 'pending' WHEN status = 'creating' THEN 'assigned' " +
				"WHEN status = 'running' AND runner_status = 'active' THEN 'running' " +
				"WHEN status = 'running' AND runner_status IN ('idle', 'online') THEN 'waiting' " +
				"WHEN status = 'running' AND runner_status IN ('pending', 'installing') THEN 'assigned' " +
				"WHEN status IN ('pending_delete', 'pending_force_delete', 'deleting', 'deleted') THEN 'stopped' " +
				"ELSE 'waiting' END)",
			"status": "status", "sandbox": "provider_id", "created_at": "created_at", "updated_at": "updated_at",
			"state_since": "updated_at", "heartbeat_at": "heartbeat", "deleted_at": "deleted_at",
		},
		Fail: RowChange{Status: "pending_delete", Set: map[string]string{"updated_at": "@now",
			"provider_fault": "convert_to(@reason, 'UTF8')"}},
		Requeue: RowChange{None: true},
	}
}

// kortix is Kortix, formerly Suna. Its box is put to sleep and woken by the platform, which keeps the user's files in
// it: rows are only read. The boxes of apps have a table of their own, whose columns were not seen: they are told as
// orphans until the config says tasks.explained_by for them too.
func kortix() Mapping {
	return Mapping{
		Table: "kortix.session_sandboxes",
		Columns: map[string]string{"id": "sandbox_id", "status": "status", "sandbox": "external_id",
			"created_at": "created_at", "updated_at": "updated_at",
			// Never null: of a box that is made it is when its row was.
			"started_at":  "(CASE WHEN status = 'active' THEN active_since END)",
			"activity_at": "last_used_at", "sleeps_at": "deadline_at"},
		Statuses: map[string][]string{"assigned": {"provisioning"}, "running": {"active"},
			"parked": {"stopped", "archived"}, "failed": {"error"}},
		ExplainedBy: []Explainer{
			{Table: "kortix.session_environments", Key: "external_id", Name: true},
			{Table: "kortix.project_monitor_boxes", Key: "external_id", Name: true},
		},
		Fail: RowChange{None: true}, Requeue: RowChange{None: true},
	}
}

// openhands is OpenHands: only the start of a conversation has a status. What was started goes on or rests, and no row
// says which.
func openhands() Mapping {
	return Mapping{
		Table: "public.app_conversation_start_task",
		Columns: map[string]string{"id": "id", "status": "status", "sandbox": "sandbox_id", "created_at": "created_at",
			"updated_at": "updated_at", "error": "detail"},
		Statuses: map[string][]string{
			"assigned": {"WORKING", "WAITING_FOR_SANDBOX", "PREPARING_REPOSITORY", "RUNNING_SETUP_SCRIPT",
				"SETTING_UP_GIT_HOOKS", "STARTING_CONVERSATION"},
			"waiting": {"READY"}, "failed": {"ERROR"},
		},
		ExplainedBy: []Explainer{
			{Table: "public.conversation_metadata", Key: "sandbox_id", Name: true},
			{Table: "public.v1_remote_sandbox", Key: "id", Name: true},
		},
		Fail:    RowChange{Status: "ERROR", Set: map[string]string{"detail": "@reason", "updated_at": "@now"}},
		Requeue: RowChange{None: true},
	}
}

// prefect is Prefect: a transition is a row of flow_run_state, to which the run then points, and a change of flow_run.
func prefect() Mapping {
	return Mapping{
		Table: "public.flow_run",
		Columns: map[string]string{"id": "id", "status": "state_type", "sandbox": "('prefect.flow-run.' || id)",
			"created_at": "created", "started_at": "start_time", "state_since": "state_timestamp", "ended_at": "end_time",
			"due_at": "next_scheduled_start_time", "error": "(context->>'why')"},
		Statuses: map[string][]string{
			"pending": {"SCHEDULED"}, "assigned": {"PENDING"}, "running": {"RUNNING", "CANCELLING"}, "waiting": {"PAUSED"},
			"completed": {"COMPLETED"}, "stopped": {"CANCELLED"}, "failed": {"FAILED", "CRASHED"},
		},
		Fail: RowChange{
			Status: "CRASHED",
			Set: map[string]string{"state_name": "'Crashed'", "state_timestamp": "@now", "end_time": "@now",
				"context": "context || jsonb_build_object('why', @reason)"},
			SQL: []string{
				`INSERT INTO public.flow_run_state (flow_run_id, type, name, "timestamp", message)
				VALUES (@id::uuid, 'CRASHED', 'Crashed', @now, @reason)`,
				`UPDATE public.flow_run SET state_id = (SELECT s.id FROM public.flow_run_state s
				WHERE s.flow_run_id = @id::uuid ORDER BY s."timestamp" DESC LIMIT 1) WHERE id = @id::uuid`,
			},
		},
		Requeue: RowChange{None: true},
		Events: EventMapping{
			Table:     "public.events",
			Columns:   map[string]string{"sandbox": "resource_id", "type": "event", "at": "occurred", "data": "payload"},
			Started:   EventTypes("prefect.flow-run.Running"),
			Heartbeat: EventTypes("prefect.flow-run.heartbeat"),
			Finished:  EventTypes("prefect.flow-run.Completed"),
		},
	}
}

// triggerdev is Trigger.dev: what a run does, and in which runner, is in the newest snapshot of its execution. A bare
// UPDATE is no transition, because queues are elsewhere: rows are only read.
func triggerdev() Mapping {
	return Mapping{
		From: `SELECT r.id, r."createdAt", s."runnerId", r."organizationId",
		       coalesce(s."createdAt", r."createdAt") AS since, r."completedAt", r."delayUntil",
		       CASE WHEN r.status IN ('COMPLETED_SUCCESSFULLY', 'COMPLETED_WITH_ERRORS', 'SYSTEM_FAILURE', 'CRASHED',
		                              'EXPIRED', 'TIMED_OUT', 'CANCELED', 'INTERRUPTED', 'DELAYED', 'WAITING_FOR_DEPLOY',
		                              'PENDING_VERSION')
		            THEN r.status::text ELSE coalesce(s."executionStatus"::text, r.status::text) END AS status
		FROM public."TaskRun" r
		LEFT JOIN LATERAL (SELECT * FROM public."TaskRunExecutionSnapshot" WHERE "runId" = r.id AND "isValid"
		                   ORDER BY "createdAt" DESC LIMIT 1) s ON true`,
		Columns: map[string]string{"id": "id", "status": "status", "sandbox": `"runnerId"`, "created_at": `"createdAt"`,
			"state_since": "since", "ended_at": `"completedAt"`, "due_at": `"delayUntil"`, "tenant": `"organizationId"`},
		Statuses: map[string][]string{
			"pending":   {"PENDING", "QUEUED", "RUN_CREATED", "DELAYED", "QUEUED_EXECUTING"},
			"assigned":  {"DEQUEUED", "PENDING_EXECUTING"},
			"running":   {"EXECUTING", "EXECUTING_WITH_WAITPOINTS", "PENDING_CANCEL"},
			"waiting":   {"WAITING_FOR_DEPLOY", "PENDING_VERSION", "RETRYING_AFTER_FAILURE", "PAUSED", "WAITING_TO_RESUME"},
			"parked":    {"SUSPENDED"},
			"completed": {"COMPLETED_SUCCESSFULLY", "FINISHED"},
			"stopped":   {"CANCELED", "INTERRUPTED"},
			"failed":    {"COMPLETED_WITH_ERRORS", "SYSTEM_FAILURE", "CRASHED", "EXPIRED", "TIMED_OUT"},
		},
		Fail: RowChange{None: true}, Requeue: RowChange{None: true},
	}
}
