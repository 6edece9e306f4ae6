package api

// A Problem is why a request was not answered as it was asked, in the form of RFC 9457.
type Problem struct {
	// The status in words.
	Title  string `json:"title"`
	Status int    `json:"status"`
	// What was wrong, and what to do.
	Detail string `json:"detail,omitempty"`
	// What would be ended, where an emergency was not confirmed.
	Preview *Preview `json:"preview,omitempty"`
}
