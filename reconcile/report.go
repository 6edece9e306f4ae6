package reconcile

// Watched reports whether the tasks that the rule fails are watched for life afterwards. It
// does for the rules that call a worker dead or stuck; what the others end cannot come back.
func Watched(rule string) bool {
	_, does := callsDead[rule]
	return does
}

// WatchedRules are the rules whose tasks are watched, in the order of their names.
func WatchedRules() []string { return sortedKeys(callsDead) }
