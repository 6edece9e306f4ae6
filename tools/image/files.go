package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// A file is one entry of a layer; a name that ends in a slash is a folder's.
type file struct {
	name string
	data []byte
	runs bool
}

// layerOf is an archive of files that belong to root and that nobody may write.
func layerOf(s settings, files []file) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o444, ModTime: s.at, Typeflag: tar.TypeReg,
			Format: tar.FormatPAX}
		switch {
		case strings.HasSuffix(f.name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o555
		case f.runs:
			h.Mode = 0o555
		}
		_ = w.WriteHeader(h) // to memory
		_, _ = w.Write(f.data)
	}
	_ = w.Close()
	return out.Bytes()
}

// roots are the certificates of the public authorities in Mozilla's list. Those that it trusts under a condition only
// are left out: a file of certificates cannot say the condition.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return out.Bytes()
}

// pack writes a folder into one archive, in the order of the names and without times.
func pack(folder, to string) error {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := tar.NewWriter(out)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return packFile(w, folder, path)
	})
	if err != nil {
		return fmt.Errorf("pack %s: %w", folder, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("pack %s: %w", folder, err)
	}
	return out.Close()
}

func packFile(w *tar.Writer, folder, path string) error {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	about, err := in.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Name: filepath.ToSlash(name), Size: about.Size(), Mode: 0o644, Typeflag: tar.TypeReg}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
