package ui

import (
	"io/fs"
	"strings"
	"testing"
)

// TestAssetsMakeNoElements: no script of ours makes a page of texts.
func TestAssetsMakeNoElements(t *testing.T) {
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "javascript:", "@import"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
