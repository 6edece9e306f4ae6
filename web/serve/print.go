package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// A printer makes the first page of a reading once, whole and packed, however many look at it: with a change all open
// pages ask for it at once.
type printer struct {
	mu   sync.Mutex
	last map[edition]printed
}

// An edition is what the page of one reading depends on besides. The part that changes is alike for all who may do the
// same.
type edition struct {
	live bool // only the part that changes
	by   ui.Looker
}

// mostEditions is how many are kept: those who load the whole page at about the same time.
const mostEditions = 20

// A printed page, and what it was made from.
type printed struct {
	from         string
	body, packed []byte
	tag          string // of both: of the same text are the same bytes
}

// print returns the page of a reading, as it was made before where nothing differs that it is made from. A reload of
// the config shows with the next reading, which is a second away at most.
func (p *printer) print(ctx context.Context, now *web.Reading, with web.Process, e edition) (printed, error) {
	from := fmt.Sprintln(now.Number, with.ConfigError, with.Proposals)
	if e.live {
		e.by = ui.Looker{Barred: e.by.Barred} // who he is stands around the part
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.last[e]; last.from == from && now.Number > 0 {
		return last, nil
	}
	made, err := press(ctx, now, with, e)
	if err != nil {
		return printed{}, err
	}
	made.from = from
	if p.last == nil || len(p.last) >= mostEditions {
		p.last = map[edition]printed{}
	}
	p.last[e] = made
	return made, nil
}

func press(ctx context.Context, now *web.Reading, with web.Process, e edition) (printed, error) {
	page := web.Page(now, with)
	if e.live {
		page = web.Live(now, with)
	}
	body, err := rendered(ui.LookedAtBy(ctx, e.by), page)
	if err != nil {
		return printed{}, fmt.Errorf("make the first page: %w", err)
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write(body) // into memory
	_ = zip.Close()
	return printed{body: body, packed: packed.Bytes(), tag: tagOf(body)}, nil
}

// send answers with it, packed for who takes it so.
func (p *printed) send(w http.ResponseWriter, r *http.Request, status int) {
	known := status == http.StatusOK && tagged(w, r, p.tag)
	body := p.body
	if r.Method != http.MethodHead && takesGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		if tag := w.Header().Get("ETag"); tag != "" {
			w.Header().Set("ETag", "W/"+tag)
		}
		body = p.packed
	}
	if known {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a page that templ has escaped; whoever asked may have left
}
