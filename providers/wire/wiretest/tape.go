package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// A Tape answers a request that it saw before with the answer that was given then, so that
// a benchmark measures the client and not the simulator.
type Tape struct {
	next http.RoundTripper
	mu   sync.Mutex
	kept map[string]*kept // answers by method and address
}

// Record makes an empty tape before a transport.
func Record(next http.RoundTripper) *Tape { return &Tape{next: next, kept: map[string]*kept{}} }

type kept struct {
	status int
	header http.Header
	body   []byte
}

// RoundTrip answers from what is kept, or asks once.
func (p *Tape) RoundTrip(r *http.Request) (*http.Response, error) {
	key := r.Method + " " + r.URL.String()
	p.mu.Lock()
	old := p.kept[key]
	p.mu.Unlock()
	if old != nil {
		return old.response(r), nil
	}
	res, err := p.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	now := &kept{status: res.StatusCode, header: res.Header, body: body}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[key] = now
	return now.response(r), nil
}

// Bodies are the bodies of all answers, in no order.
func (p *Tape) Bodies() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out [][]byte
	for _, k := range p.kept {
		out = append(out, k.body)
	}
	return out
}

func (k *kept) response(to *http.Request) *http.Response {
	return &http.Response{
		StatusCode: k.status, Status: http.StatusText(k.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: k.header.Clone(), Body: io.NopCloser(bytes.NewReader(k.body)), ContentLength: int64(len(k.body)), Request: to,
	}
}
