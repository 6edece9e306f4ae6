package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
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

// AssetPath is where a page finds an asset. The version in it changes with the content, so
// that a browser may keep the asset for good.
func AssetPath(name string) string {
	a, err := ReadAsset(name)
	if err != nil {
		return "static/" + name // unreachable unless a template misspells a name, which its test sees
	}
	return "static/" + name + "?v=" + a.Version
}

// An Asset is a stylesheet, a script or an icon.
type Asset struct {
	Text    []byte
	Type    string // of its content
	Version string // changes with the content
}

// ReadAsset finds an asset by the name of its file.
func ReadAsset(name string) (Asset, error) {
	text, err := files.ReadFile("static/" + name)
	if err != nil {
		return Asset{}, err
	}
	return Asset{Text: text, Type: kind(name), Version: sumOf(text)}, nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}
