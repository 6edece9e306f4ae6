package empty

import (
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Guide is what an operator should know.
const Guide = `**Credential.** None: it is an empty world in memory, for trying things out.
`

// Abilities are what the adapter can do.
var Abilities = wire.Abilities{
	Labels: true, Template: true, PageSize: 200, OldestFirst: true, Hides: true,
	States: []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed},
	Refuses: true, Busy: true, Suspends: "stop: its disk is kept", StopMayDelete: true,
	Exec: true, Files: true, DataPlane: true,
	TemplateStates: []reconcile.TemplateState{reconcile.TemplateActive, reconcile.TemplateInactive,
		reconcile.TemplateBuilding, reconcile.TemplateFailed, reconcile.TemplateMissing},
	TemplateExpires: true,
	Deaths:          "the world's own record",
}
