package wiretest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
)

// Transport hands requests to a handler without a network, so that a client can run where
// time is not real.
func Transport(h http.Handler) http.RoundTripper { return transport{h} }

type transport struct{ handler http.Handler }

// RoundTrip runs the handler and waits for it or for the request's end. The handler's
// context ends with the request's, as it does when a connection breaks.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body := []byte{}
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	ctx, cancel := context.WithCancel(r.Context())
	in := r.Clone(ctx)
	in.Host, in.RequestURI, in.Body = r.URL.Host, r.URL.RequestURI(), io.NopCloser(bytes.NewReader(body))
	out := newReply()
	done := make(chan struct{})
	go func() {
		defer cancel()
		defer close(done)
		t.handler.ServeHTTP(out, in)
	}()
	select {
	case <-done:
	case <-r.Context().Done():
		<-done // the handler notices
		return nil, r.Context().Err()
	}
	return out.response(r)
}

// A reply keeps what a handler answers.
type reply struct {
	header http.Header
	status int
	wrote  bool
	cut    bool
	body   bytes.Buffer
}

func newReply() *reply { return &reply{header: http.Header{}, status: http.StatusOK} }

func (r *reply) Header() http.Header { return r.header }

func (r *reply) WriteHeader(status int) {
	if !r.wrote {
		r.status, r.wrote = status, true
	}
}

func (r *reply) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// Hijack lets the handler break the connection; nothing else can be done with it.
func (r *reply) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	r.cut = true
	near, far := net.Pipe()
	far.Close()
	return near, nil, nil
}

func (r *reply) response(to *http.Request) (*http.Response, error) {
	if r.cut {
		return nil, errors.New("connection reset by peer")
	}
	return &http.Response{
		StatusCode: r.status, Status: http.StatusText(r.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(&r.body), ContentLength: int64(r.body.Len()), Request: to,
	}, nil
}
