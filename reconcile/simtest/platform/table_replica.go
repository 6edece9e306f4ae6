package platform

import "time"

// follow makes readers read from a standby: one that does not move, or one that shows the rows as
// they were a while ago.
func (b *table) follow(lag, lasts time.Duration) {
	b.standby, b.copy, b.trusted = true, copyRows(b.rows), copyRows(b.rows)
	b.follower++
	if lag > 0 {
		b.keepUp(b.follower, lag)
	}
	if lasts > 0 {
		b.platform.later(lasts, func() { b.standby = false })
	}
}

// replay is how often a standby that lags takes over what the primary had.
const replay = 5 * time.Second

// keepUp shows now's rows when the lag has passed, and does so again and again while the standby
// is the one that was begun so.
func (b *table) keepUp(follower int, lag time.Duration) {
	if !b.standby || b.follower != follower {
		return
	}
	now := copyRows(b.rows)
	b.platform.later(lag, func() {
		if b.standby && b.follower == follower {
			b.copy = now
		}
	})
	b.platform.later(replay, func() { b.keepUp(follower, lag) })
}
