package wire

import (
	"encoding/json"
	"testing"
)

// TestAmount: whatever a provider says of a size, the rest of its answer is read.
func TestAmount(t *testing.T) {
	for said, want := range map[string]Amount{
		"4": 4, "0.5": 0.5, "1e3": 1000, "null": 0, `"4"`: 0, "-1": 0, "1e99": 0, "[]": 0, "{}": 0, "true": 0,
	} {
		var in struct {
			CPU  Amount `json:"cpu"`
			Name string `json:"name"`
		}
		err := json.Unmarshal([]byte(`{"cpu":`+said+`,"name":"box"}`), &in)
		if err != nil || in.CPU != want || in.Name != "box" {
			t.Errorf("%s is read as %v of %q (%v), want %v", said, in.CPU, in.Name, err, want)
		}
	}
}
