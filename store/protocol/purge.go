package protocol

// MostPurged is how many rows one statement deletes at most.
const MostPurged = 1000

// Batch brings a wished batch size into bounds.
func Batch(wished int) int {
	if wished < 1 || wished > MostPurged {
		return MostPurged
	}
	return wished
}
