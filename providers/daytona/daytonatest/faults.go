package daytonatest

import (
	"io"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// run does the call as the fault lets it.
func (q *request) run(do func(*request)) {
	switch q.fault.Effect {
	case simulated.Answer:
		q.misanswer()
	case simulated.Drop:
		q.cut()
	case simulated.CutPage:
		shadow := q.shadow(do)
		q.w.Header().Set("Content-Type", "application/json")
		_, _ = q.w.Write(shadow.body[:len(shadow.body)*2/3])
	case simulated.DoneThenDrop:
		q.shadow(do)
		q.cut()
	case simulated.DoneThenAnswer:
		q.shadow(do)
		q.misanswer()
	default:
		do(q)
	}
}

// misanswer gives the fault's answer.
func (q *request) misanswer() {
	for name, value := range q.fault.Header {
		q.w.Header().Set(name, value)
	}
	if q.fault.Body == "" && q.fault.ContentType == "" {
		q.fail(q.fault.Code(), "simulated fault")
		return
	}
	kind := q.fault.ContentType
	if kind == "" {
		kind = "application/json"
	}
	q.w.Header().Set("Content-Type", kind)
	q.w.WriteHeader(q.fault.Code())
	_, _ = io.WriteString(q.w, q.fault.Body)
}

// A recording answers nobody.
type recording struct {
	header http.Header
	body   []byte
}

func (r *recording) Header() http.Header { return r.header }
func (r *recording) WriteHeader(int)     {}
func (r *recording) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}

// shadow does the call without an answer to the client.
func (q *request) shadow(do func(*request)) *recording {
	rec := &recording{header: http.Header{}}
	other := *q
	other.w = rec
	do(&other)
	return rec
}

// cut breaks the connection in the middle of the call.
func (q *request) cut() {
	if conn, _, err := http.NewResponseController(q.w).Hijack(); err == nil {
		conn.Close()
	}
}
