package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A target is where one signal goes.
type target struct {
	signal  string
	url     string
	headers http.Header
	gzip    bool
	timeout time.Duration // of all attempts at one message
	client  *http.Client
	report  *report
}

// post sends one message, within its time-out, and reports whether it was cut off because the process ends, so that
// it has to be sent once more. What cannot be sent is reported and lost.
func (t *target) post(ctx context.Context, m proto.Message) (cutOff bool) {
	err := t.try(ctx, m)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return true
	}
	t.report.note(t.signal, err)
	return false
}

func (t *target) try(ctx context.Context, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	if t.gzip {
		body = packed(body)
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	for pause := time.Second; ; pause *= 2 {
		again, err := t.once(ctx, body)
		if err == nil || !again || reconcile.Sleep(ctx, pause) != nil {
			return err
		}
	}
}

func packed(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

// once makes one attempt; again says that the receiver asks for another one.
func (t *target) once(ctx context.Context, body []byte) (again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("its endpoint is no address")
	}
	for name, values := range t.headers {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	if t.gzip {
		request.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := t.client.Do(request)
	if err != nil {
		return false, withoutAddress(err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is used again
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, fmt.Errorf("answered %d", answer.StatusCode)
	}
	if answer.StatusCode/100 != 2 {
		return false, fmt.Errorf("answered %d", answer.StatusCode)
	}
	return false, nil
}

// withoutAddress leaves out the address, which may hold a credential.
func withoutAddress(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}

// Start is asked for by the SDK; nothing has to be opened.
func (*target) Start(context.Context) error { return nil }

// Stop is asked for by the SDK.
func (t *target) Stop(context.Context) error {
	t.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. A message of traces to a collector is, on the wire, that of TracesData. What fails is
// reported here and not to the SDK, which would print it.
func (t *target) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	t.post(ctx, &tracepb.TracesData{ResourceSpans: spans})
	return nil
}
