package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// Answers of a usual size are read beside any number of others, larger ones two at a time: a
// provider that sends garbage to every call must not fill the memory.
const (
	usualBody   = MaxOne
	largeAtOnce = 2
)

// ErrLarge is an answer that would be as large the next time.
var ErrLarge = errors.New("the answer is larger")

func tooLarge(limit int64) error { return fmt.Errorf("%w than %d bytes", ErrLarge, limit) }

// readBody reads at most limit bytes, as they are after decompression. An error answer is
// cut, a good one must fit.
func (c *Client) readBody(ctx context.Context, res *http.Response, limit int64) ([]byte, error) {
	good := res.StatusCode/100 == 2
	if !good {
		limit = maxWords
	}
	var body []byte
	if good && limit > usualBody { // a page: as long as the one before, most likely
		body = c.roomOfPage()
	}
	body, err := readUpTo(res, body, min(limit, usualBody))
	if err == nil && int64(len(body)) > usualBody && limit > usualBody {
		body, err = c.readOn(ctx, res, body, limit)
	}
	if good && limit > usualBody {
		c.page.Store(int64(len(body)) + int64(len(body))/8)
	}
	switch {
	case err != nil && good:
		return nil, fmt.Errorf("read the answer: %w", err)
	case int64(len(body)) > limit && good:
		return nil, tooLarge(limit)
	}
	return body, nil
}

// roomOfPage is where a page is read to: where one was that is read by now, or as much as the one before took.
func (c *Client) roomOfPage() []byte {
	if left, ok := c.pages.Get().(*[]byte); ok {
		return (*left)[:0]
	}
	return make([]byte, 0, min(c.page.Load(), usualBody))
}

// leavePage lets another page be read to where one was that nobody needs any more. Large ones are few.
func (c *Client) leavePage(body []byte) {
	if cap(body) > 0 && int64(cap(body)) <= usualBody {
		c.pages.Put(&body)
	}
}

// readOn reads the rest of a large answer, when it is its turn.
func (c *Client) readOn(ctx context.Context, res *http.Response, body []byte, limit int64) ([]byte, error) {
	select {
	case c.large <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other large answers: %w", ctx.Err())
	}
	defer func() { <-c.large }()
	return readUpTo(res, body, limit)
}

// readUpTo reads on until the end of an answer, or until there is more than the limit. It
// takes little more memory than that.
func readUpTo(res *http.Response, body []byte, limit int64) ([]byte, error) {
	const least = 4 << 10
	for want := min(max(res.ContentLength+1, least), limit+1); int64(len(body)) <= limit; want = min(2*want, limit+1) {
		body = slices.Grow(body, max(int(want)-len(body), 0))
		for len(body) < cap(body) {
			n, err := res.Body.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
			switch {
			case errors.Is(err, io.EOF):
				return body, nil
			case err != nil:
				return body, err
			}
		}
	}
	return body, nil
}
