package decide

import "github.com/sandkeeper/sandkeeper/reconcile/worldtest"

// judgeWorld judges by the policy that is in force, as a pass does.
func JudgeWorld(w *worldtest.World) *Judgement { return Judge(&w.S, w.P.Effective(&w.S.Memory)) }

func PlanWorld(w *worldtest.World) (*Judgement, *Plan) {
	j := JudgeWorld(w)
	return j, MakePlan(j, 7)
}
