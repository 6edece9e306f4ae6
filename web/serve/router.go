package serve

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// newRouter makes the router of a table, without the rows that are named by the error.
func newRouter(s *site, table []route) (http.Handler, error) {
	known := map[string]methods{}
	var wrong []error
	for _, r := range table {
		if err := r.check(); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if known[r.path] == nil {
			known[r.path] = methods{}
		}
		known[r.path][r.method] = r.handler(s.Log)
	}
	rows := paths(known, http.HandlerFunc(s.missing))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !text.Storable(r.URL.Path) { // nothing on record goes by such an id, and the ledger would refuse the question
			s.missing(w, r)
			return
		}
		rows.ServeHTTP(w, r)
	}), errors.Join(wrong...)
}

// paths sends a request to what its path names, or to the rest. Nothing else tells net/http of paths.
func paths[H http.Handler](known map[string]H, rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	for path, h := range known {
		mux.Handle(path, h)
	}
	mux.Handle("/", rest)
	return mux
}

// methods are what one path answers, by method.
type methods map[string]http.Handler

// ServeHTTP answers 405 to a method without a row. Who may GET may also HEAD.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if h, ok := m[method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Allow", m.allowed())
	refuse(w, r, http.StatusMethodNotAllowed, http.StatusText(http.StatusMethodNotAllowed))
}

func (m methods) allowed() string {
	var names []string
	for name := range m {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
