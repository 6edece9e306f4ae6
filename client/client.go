package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// New is a client of the sandkeeper at an address, as https://sandkeeper.example, by a token of `sandkeeper token
// create`. Without a token it asks as nobody, which counts on loopback alone.
func New(address, token string, options ...ClientOption) (*ClientWithResponses, error) {
	shows := func(_ context.Context, r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	}
	return NewClientWithResponses(address, append([]ClientOption{WithRequestEditorFn(shows)}, options...)...)
}

// An Answer is what every call of [ClientWithResponses] returns.
type Answer interface {
	GetApplicationProblemJSONDefault() *Problem
	Status() string
	StatusCode() int
}

// Check is nil when a call was answered as it was asked, and otherwise why not, in the server's words. It takes what a
// call returns:
//
//	status, err := c.GetStatusWithResponse(ctx)
//	if err := client.Check(status, err); err != nil {
func Check(a Answer, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("ask sandkeeper: %w", err)
	case a.StatusCode() == http.StatusOK, a.StatusCode() == http.StatusAccepted:
		return nil
	}
	if p := a.GetApplicationProblemJSONDefault(); p != nil && p.Detail != nil {
		return fmt.Errorf("sandkeeper answers %s: %s", a.Status(), *p.Detail)
	}
	return errors.New("sandkeeper answers " + a.Status())
}
