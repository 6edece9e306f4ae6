package worldtest

import (
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func init() {
	kinds["vitals"], kinds["quota"] = putVitals, putQuota
}

// putVitals is one measurement of a sandbox, oldest first: at=AGE, cpu=PERCENT, mem=USED/TOTAL
// in MiB, queued= and running= executions, for= how long the oldest waits, signs=A,B.
func putVitals(l *entry) {
	ref := l.ref(0)
	m := reconcile.Measurements{At: l.w.S.Memory.Now}
	l.ago("at", l.w.S.Memory.Now, &m.At)
	l.list("signs", &m.Signs)
	text := ""
	if l.str("cpu", &text); text != "" {
		cpu, err := strconv.ParseFloat(text, 64)
		if err != nil {
			l.w.T.Fatalf("line %q: %v", l.text, err)
		}
		m.CPU = &cpu
	}
	text = ""
	if l.str("mem", &text); text != "" {
		used, total, _ := strings.Cut(text, "/")
		m.Memory = &reconcile.MemoryUse{Used: int64(number(l.w.T, used)) << 20, Total: int64(number(l.w.T, total)) << 20}
	}
	if _, told := l.set["queued"]; told {
		m.Executions = &reconcile.ExecutionsSeen{}
		l.num("queued", &m.Executions.Queued)
		l.num("running", &m.Executions.Running)
		l.dur("for", &m.Executions.QueuedFor)
	}
	seen := l.w.S.Memory.Probes[ref]
	seen.Ref = ref
	seen.Measurements = reconcile.AddMeasurements(seen.Measurements, m)
	l.w.S.Memory.Probes[ref] = seen
}

// putQuota is a quota of a provider: quota daytona cpu used=85 limit=100, or quota daytona for
// one that has none.
func putQuota(l *entry) {
	if l.w.S.Quotas == nil {
		l.w.S.Quotas = map[string][]reconcile.Quota{}
	}
	name := l.arg(0)
	if len(l.args) == 1 {
		l.w.S.Quotas[name] = []reconcile.Quota{}
		return
	}
	used, limit := 0, 100
	l.num("used", &used)
	l.num("limit", &limit)
	l.w.S.Quotas[name] = append(l.w.S.Quotas[name], reconcile.Quota{Name: l.arg(1), Used: float64(used),
		Limit: float64(limit)})
}

// Ages are lines of vitals of one sandbox, each so long ago, with the same words.
func Ages(ref, words string, ago ...time.Duration) string {
	var out strings.Builder
	for _, d := range ago {
		out.WriteString("vitals " + ref + " at=" + d.String() + " " + words + "; ")
	}
	return out.String()
}
