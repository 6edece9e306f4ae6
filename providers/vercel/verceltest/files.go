package verceltest

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// readFile reads one file. That of the host's name is in every image.
func (s insides) readFile(c *call) {
	v, ok := s.running(c)
	if !ok {
		return
	}
	var in struct{ Path, Cwd string }
	if json.Unmarshal(c.Body, &in) != nil || in.Path == "" {
		s.bad(c, "Invalid request body: path is required")
		return
	}
	file := absolute(cmp.Or(in.Cwd, home), in.Path)
	trouble := v.Files
	text, there := v.Disk[file]
	if file == "/etc/hostname" && !there {
		text, there = v.ID+"\n", true
	}
	if trouble == simulated.NoPath || trouble == simulated.Healthy && !there {
		s.missing(c, v, file)
		return
	}
	if s.met(c, nil, trouble) {
		return
	}
	c.W.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.WriteString(c.W, text) // the client may have left
}

// missing answers for what is no file. The words for a folder were not seen.
func (s insides) missing(c *call, v vm, file string) {
	if _, t := s.world.Folder(v.ID, file); t == simulated.Healthy {
		s.refuse(c.W, http.StatusBadRequest, "file_error", "read "+file+": is a directory")
		return
	}
	s.refuse(c.W, http.StatusNotFound, "not_found", "File not found.")
}

func (s insides) mkdir(c *call) {
	v, ok := s.running(c)
	if !ok {
		return
	}
	var in struct{ Path, Cwd string }
	if json.Unmarshal(c.Body, &in) != nil || in.Path == "" {
		s.bad(c, "Invalid request body: path is required")
		return
	}
	s.write(v.ID, map[string]string{absolute(cmp.Or(in.Cwd, home), in.Path) + "/.": ""})
	c.JSON(http.StatusOK, fields{})
}

// write adds files to a disk. A name that ends with a dot is a folder.
func (s insides) write(id string, files map[string]string) {
	s.world.Change(id, func(b *simulated.Sandbox) {
		disk := map[string]string{}
		maps.Copy(disk, b.Disk)
		maps.Copy(disk, files)
		b.Disk = disk
	})
}

// writeFiles unpacks an archive in the folder that a header names.
func (s insides) writeFiles(c *call) {
	v, ok := s.running(c)
	if !ok {
		return
	}
	files, err := unpack(c.Body, cmp.Or(c.R.Header.Get("X-Cwd"), "/"))
	if err != nil {
		s.refuse(c.W, http.StatusBadRequest, "file_error", err.Error())
		return
	}
	s.write(v.ID, files)
	c.JSON(http.StatusOK, fields{})
}

func unpack(packed []byte, folder string) (map[string]string, error) {
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	out := map[string]string{}
	for archive := tar.NewReader(io.LimitReader(plain, 16<<20)); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", h.Name, err)
		}
		if h.Typeflag == tar.TypeReg {
			out[path.Join(folder, h.Name)] = string(text)
		}
	}
}
