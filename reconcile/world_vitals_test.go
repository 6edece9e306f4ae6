package reconcile

import (
	"strconv"
	"strings"
	"time"
)

func init() {
	kinds["vitals"], kinds["quota"] = putVitals, putQuota
}

// putVitals is one measurement of a sandbox, oldest first: at=AGE, cpu=PERCENT, mem=USED/TOTAL
// in MiB, queued= and running= executions, for= how long the oldest waits, signs=A,B.
func putVitals(l *entry) {
	ref := l.ref(0)
	m := Vitals{At: l.w.s.Memory.Now}
	l.ago("at", l.w.s.Memory.Now, &m.At)
	l.list("signs", &m.Signs)
	text := ""
	if l.str("cpu", &text); text != "" {
		cpu, err := strconv.ParseFloat(text, 64)
		if err != nil {
			l.w.t.Fatalf("line %q: %v", l.text, err)
		}
		m.CPU = &cpu
	}
	text = ""
	if l.str("mem", &text); text != "" {
		used, total, _ := strings.Cut(text, "/")
		m.Memory = &MemoryUse{Used: int64(number(l.w.t, used)) << 20, Total: int64(number(l.w.t, total)) << 20}
	}
	if _, told := l.set["queued"]; told {
		m.Executions = &ExecutionsSeen{}
		l.num("queued", &m.Executions.Queued)
		l.num("running", &m.Executions.Running)
		l.dur("for", &m.Executions.QueuedFor)
	}
	seen := l.w.s.Memory.Probes[ref]
	seen.Ref = ref
	seen.Vitals = AddVitals(seen.Vitals, m)
	l.w.s.Memory.Probes[ref] = seen
}

// putQuota is a quota of a provider: quota daytona cpu used=85 limit=100, or quota daytona for
// one that has none.
func putQuota(l *entry) {
	if l.w.s.Quotas == nil {
		l.w.s.Quotas = map[string][]Quota{}
	}
	name := l.arg(0)
	if len(l.args) == 1 {
		l.w.s.Quotas[name] = []Quota{}
		return
	}
	used, limit := 0, 100
	l.num("used", &used)
	l.num("limit", &limit)
	l.w.s.Quotas[name] = append(l.w.s.Quotas[name], Quota{Name: l.arg(1), Used: float64(used), Limit: float64(limit)})
}

// ages are lines of vitals of one sandbox, each so long ago, with the same words.
func ages(ref, words string, ago ...time.Duration) string {
	var out strings.Builder
	for _, d := range ago {
		out.WriteString("vitals " + ref + " at=" + d.String() + " " + words + "; ")
	}
	return out.String()
}
