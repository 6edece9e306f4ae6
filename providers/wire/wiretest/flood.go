package wiretest

import (
	"bytes"
	"compress/gzip"
	"net/http"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// floodSize is how much a flood sends before it falls silent without an end.
const floodSize = 100 << 20

// flood answers well, with JSON that begins with a hundred megabytes of blanks, packed or
// not, and then never ends. Who reads without a bound is still reading when its time is
// over.
func flood(x Exchange) {
	x.W.Header().Set("Content-Type", "application/json")
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	chunks := floodSize / len(chunk)
	if x.Fault.Effect == simulated.FloodPacked {
		x.W.Header().Set("Content-Encoding", "gzip")
		chunk = pack(chunk)
	}
	x.W.WriteHeader(http.StatusOK)
	for range chunks {
		if _, err := x.W.Write(chunk); err != nil || x.R.Context().Err() != nil {
			return
		}
	}
	_ = http.NewResponseController(x.W).Flush() // a recording has none
	x.Silence()
}

// pack compresses a chunk. Packed chunks in a row are a packed whole.
func pack(chunk []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(chunk) // to memory
	_ = w.Close()
	return out.Bytes()
}
