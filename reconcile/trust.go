package reconcile

// The names of sources. Listings, probes and clocks have one for each provider or column.
const (
	SourceTasks  = "tasks"
	SourceLink   = "link"
	SourceEvents = "events"
)
