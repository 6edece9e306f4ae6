package simulated

// Effects that try a client's patience with large answers.
const (
	Flood       Effect = "flood"        // answers well, with 100 MB and no end
	FloodPacked Effect = "packed flood" // the same, compressed to almost nothing
)
