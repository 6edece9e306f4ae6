package protocol

import "time"

// HourOf is the hour to which what happens now is added.
func HourOf(now time.Time) time.Time { return now.UTC().Truncate(time.Hour) }

// Overlaps is the time after which an hour begins that has a part in a window from then on.
func Overlaps(from time.Time) time.Time { return from.Add(-time.Hour) }
