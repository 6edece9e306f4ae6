package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
)

// mostEvent is how long one event may be.
const mostEvent = 1 << 20

// Events are what happens from now on, or after the event of p.LastEventID, until ctx ends or the connection does: then
// the last pair has the error. Who goes on afterwards asks with the id of the last event that he has read.
func Events(ctx context.Context, c ClientInterface, p *GetEventsParams) iter.Seq2[CloudEvent, error] {
	return func(yield func(CloudEvent, error) bool) {
		answer, err := c.GetEvents(ctx, p, func(_ context.Context, r *http.Request) error {
			r.Header.Set("Accept", "text/event-stream")
			return nil
		})
		if err != nil {
			yield(CloudEvent{}, fmt.Errorf("ask sandkeeper for events: %w", err))
			return
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			yield(CloudEvent{}, errors.New("sandkeeper answers "+answer.Status+" to who asks for events"))
			return
		}
		if err := eachEvent(answer.Body, yield); err != nil {
			yield(CloudEvent{}, fmt.Errorf("read events: %w", err))
		}
	}
}

// eachEvent reads server-sent events until the stream ends, which is an error: it has no end of its own. It is nil when
// who reads has enough.
func eachEvent(stream io.Reader, yield func(CloudEvent, error) bool) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, mostEvent)
	var data strings.Builder
	for lines.Scan() {
		if part, is := strings.CutPrefix(lines.Text(), "data:"); is {
			data.WriteString(strings.TrimPrefix(part, " "))
			continue
		}
		if lines.Text() != "" || data.Len() == 0 {
			continue // an id, a comment that keeps the connection, or the end of one
		}
		var event CloudEvent
		if err := json.Unmarshal([]byte(data.String()), &event); err != nil {
			return fmt.Errorf("an event that is none: %w", err)
		}
		data.Reset()
		if !yield(event, nil) {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}
