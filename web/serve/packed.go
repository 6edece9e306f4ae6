package serve

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// smallest is how long an answer is that is worth to be packed.
const smallest = 1 << 10

// packing sends what is text packed to who takes it: a page is several times as long without. No secret stands
// beside what a stranger may write in an answer, so its length tells nothing.
type packing struct {
	behind http.Handler
	idle   sync.Pool // writers, which are large
}

func newPacking(behind http.Handler) *packing {
	return &packing{behind: behind, idle: sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is one of its own
		return w
	}}}
}

// ServeHTTP packs the answer.
func (p *packing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead || !takesGzip(r.Header.Get("Accept-Encoding")) {
		p.behind.ServeHTTP(w, r)
		return
	}
	out := &packed{ResponseWriter: w, of: p, status: http.StatusOK}
	p.behind.ServeHTTP(out, r)
	out.end()
}

// takesGzip reports whether who asks says so.
func takesGzip(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, options, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		quality, given := strings.CutPrefix(strings.ReplaceAll(options, " ", ""), "q=")
		q, err := strconv.ParseFloat(quality, 64)
		return !given || err == nil && q > 0
	}
	return false
}

// A packed answer decides with its first bytes whether it is one.
type packed struct {
	http.ResponseWriter
	of     *packing
	status int
	begun  bool
	zip    *gzip.Writer
}

// Unwrap is the answer's own connection, for its deadlines.
func (p *packed) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader keeps the status until it is known how the body goes.
func (p *packed) WriteHeader(status int) { p.status = status }

// Write writes a part of the body.
func (p *packed) Write(b []byte) (int, error) {
	if !p.begun {
		p.begin(len(b))
	}
	if p.zip != nil {
		return p.zip.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

func (p *packed) begin(first int) {
	p.begun = true
	h := p.Header()
	if first >= smallest && packable(h) && p.status != http.StatusPartialContent {
		h.Del("Content-Length")
		h.Set("Content-Encoding", "gzip")
		if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
			h.Set("ETag", "W/"+tag) // the same text in other bytes
		}
		p.zip, _ = p.of.idle.Get().(*gzip.Writer)
		p.zip.Reset(p.ResponseWriter)
	}
	p.ResponseWriter.WriteHeader(p.status)
}

// packable is a text that nobody packed yet and that does not go on for ever.
func packable(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	text := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || kind == "image/svg+xml"
	return text && kind != "text/event-stream" && h.Get("Content-Encoding") == ""
}

// end ends the answer. One that broke off is not ended: nobody takes it for a whole one.
func (p *packed) end() {
	if !p.begun {
		p.begin(0)
	}
	if p.zip != nil {
		_ = p.zip.Close() // whoever asked has left
		p.of.idle.Put(p.zip)
	}
}
