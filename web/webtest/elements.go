package webtest

import (
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
)

// ours are the addresses that a page may lead to: assets, pages, anchors, each relative.
var ours = regexp.MustCompile(`^(\.\./)*(static/[a-z]+\.(css|js|svg)\?v=[0-9a-f]{12}|\./(#[a-z]+)?|#[a-z]+|` +
	`(metrics|readyz|healthz|tasks|sandboxes|incidents|findings|actions|passes|sources|rules|stops|operators|search|runbooks)` +
	`(/[A-Za-z0-9._~%-]+)*(\?[A-Za-z0-9._~%=&-]*)?(#[a-z-]+)?)$`)

// HarmlessElement fails a test on an element that runs something, or leads where we are not.
func HarmlessElement(t *testing.T, e xml.StartElement) {
	t.Helper()
	switch e.Name.Local {
	case "img", "iframe", "object", "style", "base", "use", "image", "foreignObject":
		t.Errorf("<%s> is on the page", e.Name.Local)
	}
	src := e.Name.Local != "script"
	for _, a := range e.Attr {
		name := a.Name.Local
		if strings.HasPrefix(name, "on") || name == "style" {
			t.Errorf("<%s %s=%q> is on the page", e.Name.Local, name, a.Value)
		}
		if e.Name.Local == "form" && name == "method" && a.Value != "get" {
			t.Errorf("<form method=%q> is on the page", a.Value)
		}
		if name == "formaction" || name == "target" {
			t.Errorf("<%s %s=%q> is on the page", e.Name.Local, name, a.Value)
		}
		if name == "href" || name == "src" || name == "data-icon" || name == "action" {
			src = true
			if !ours.MatchString(a.Value) {
				t.Errorf("<%s %s=%q> is not ours", e.Name.Local, name, a.Value)
			}
		}
	}
	if !src {
		t.Error("a script is on the page that comes from no file")
	}
}
