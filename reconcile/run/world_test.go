package run

import (
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// judgeWorld judges a world by the policy that is in force, as a pass does.
func judgeWorld(w *worldtest.World) *decide.Judgement {
	return decide.Judge(&w.S, w.P.Effective(&w.S.Memory))
}

func planWorld(w *worldtest.World) (*decide.Judgement, *decide.Plan) {
	j := judgeWorld(w)
	return j, decide.MakePlan(j, 7)
}
