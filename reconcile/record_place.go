package reconcile

// A RecordPlace is how far somebody has read what happened: up to so many lines of one link of the
// record, and up to one pass. Who reads on from it misses nothing and gets nothing twice.
type RecordPlace struct {
	Link   int64
	Within int64
	Pass   int64
}

// Beyond reports whether the place lies behind another one, where nobody can have read.
func (p RecordPlace) Beyond(end RecordPlace) bool {
	return p.Link > end.Link || p.Link == end.Link && p.Within > end.Within || p.Pass > end.Pass
}

// A RecordEvent is one thing that happened: a line of the timeline, or a pass that ended.
type RecordEvent struct {
	Place  RecordPlace // that of who has read it
	Number int64       // of the line; 0 of a pass
	TimelineEvent
	Pass *PassSeen // nil of a line
}
