package main

import (
	"fmt"
	"time"
)

// day is a day in the defaults of flags.
const day = 24 * time.Hour

// An exitError ends the program with a code of its own. Its error, when there is one, has
// not been shown yet.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }
