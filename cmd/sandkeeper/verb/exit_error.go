package verb

import (
	"fmt"
	"time"
)

// Day is a day in the defaults of flags.
const Day = 24 * time.Hour

// An ExitError ends the program with a code of its own. Its error, when there is one, has
// not been shown yet.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }
