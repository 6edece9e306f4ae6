package reconcile

// RowBuckets are what the live rows come in where they are compared with those of a reading before.
const RowBuckets = 1 << 12

// A RowSum stands for a live row as it reads: one that reads otherwise has another sum, and so has another row.
type RowSum struct {
	ID     string
	Bucket int
	Sum    int64
	Heard  bool // an event may have come of it since
}

// RowsBefore is what is known of the live rows by a reading before.
type RowsBefore interface {
	// Sums are the sums of each bucket: of its rows' sums, by exclusive or. All are 0 where nothing is known.
	Sums() []int64
	// Pick takes the sums of those buckets that have changed, as they are now, with all rows of these, and those rows
	// elsewhere of which something was heard. It returns which rows are to be read, by id, and false where two of them
	// have one id.
	Pick(sums map[int]int64, rows []RowSum) (ids []string, ok bool)
}
