package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed static
var files embed.FS

// kind is the content type of what is embedded.
func kind(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return ""
}

// assetPath is where a page finds an asset. The version in it changes with the content, so
// that a browser may keep the asset for good.
func assetPath(name string) string {
	text, err := files.ReadFile("static/" + name)
	if err != nil {
		return "static/" + name // unreachable unless a template misspells a name, which its test sees
	}
	return "static/" + name + "?v=" + sumOf(text)
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// asset serves a stylesheet, a script or an icon.
func (s *site) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := files.ReadFile("static/" + name)
	if err != nil {
		s.missing(w, r)
		return
	}
	h, sum := w.Header(), sumOf(text)
	h.Set("Content-Type", kind(name))
	h.Set("ETag", `"`+sum+`"`)
	h.Set("Cache-Control", "no-cache") // another version was asked for: another replica made the page
	if r.URL.Query().Get("v") == sum {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
}
