package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
)

// errStreamEnded is a stream that the other side ended, as it does after the time that was asked for.
var errStreamEnded = errors.New("the stream ended")

// Stream makes a call whose answer comes line by line, and hands on each line as it comes, until ctx ends or the answer
// does. opened is told once it is answered. It has no deadline: the call says how long it is to last.
func (c *Client) Stream(ctx context.Context, k Call, opened func(), each func(line []byte) error) error {
	if err := c.hosts.may(k.URL); err != nil {
		return err
	}
	if err := c.admit(ctx, k); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.URL, http.NoBody)
	if err != nil {
		return err
	}
	c.authorize(req, k)
	res, err := c.http.Do(req)
	if err != nil {
		return c.clean(fmt.Errorf("%s: %w", k.What, Cause(err)))
	}
	defer res.Body.Close()
	a := Answer{Status: res.StatusCode, Header: res.Header, Date: c.date(res.Header)}
	if !a.OK() {
		a.Body = keep(res)
	}
	c.learn(k, a)
	if !a.OK() {
		return fmt.Errorf("%s: %w", k.What, c.Refuse(a))
	}
	opened()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, MaxOne)
	for lines.Scan() {
		if err := each(lines.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", k.What, err)
		}
	}
	if err := lines.Err(); err != nil {
		return c.clean(fmt.Errorf("%s: %w", k.What, Cause(err)))
	}
	return errStreamEnded
}

// StreamEnded reports whether a stream came to the end that was asked for: it is to be opened again.
func StreamEnded(err error) bool { return errors.Is(err, errStreamEnded) }
