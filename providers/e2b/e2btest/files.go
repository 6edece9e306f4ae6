package e2btest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// home is where paths begin that do not begin at the root.
const home = "/home/user"

func whole(name string) string {
	if strings.HasPrefix(name, "/") {
		return path.Clean(name)
	}
	return path.Join(home, name)
}

func (q *request) asksFor() (name string) {
	var in struct{ Path string }
	_ = json.Unmarshal(q.body, &in) // nothing asked for is the home
	return whole(in.Path)
}

// entry is a file or a folder as the daemon shows it.
func (q *request) entry(folder string, f simulated.File) object {
	out := object{
		"name": f.Name, "type": "FILE_TYPE_FILE", "path": path.Join(folder, f.Name), "size": strconv.Itoa(f.Size),
		"mode": 0o644, "permissions": "-rw-r--r--", "owner": "user", "group": "user",
		"modifiedTime": stamp(q.world.Now()),
	}
	if f.Dir {
		out["type"], out["mode"], out["permissions"], out["size"] = "FILE_TYPE_DIRECTORY", 0o755, "drwxr-xr-x", "4096"
	}
	return out
}

func (s *Server) listDir(q *request) {
	folder := q.asksFor()
	files, trouble := s.world.Folder(q.id, folder)
	if q.met(trouble) {
		return
	}
	if _, trouble := s.world.Read(q.id, folder); trouble == simulated.Healthy {
		q.rpcFail("invalid_argument", "path is not a directory: "+folder)
		return
	}
	out := object{}
	if len(files) > 0 {
		entries := make([]object, len(files))
		for i, f := range files {
			entries[i] = q.entry(folder, f)
		}
		out["entries"] = entries
	}
	q.json(http.StatusOK, out)
}

func (s *Server) stat(q *request) {
	name := q.asksFor()
	text, trouble := s.world.Read(q.id, name)
	f := simulated.File{Name: path.Base(name), Size: len(text)}
	if trouble == simulated.NoPath {
		f.Dir = true
		_, trouble = s.world.Folder(q.id, name)
	}
	switch {
	case trouble == simulated.NoPath:
		q.rpcFail("not_found", "file not found: stat "+name+": no such file or directory")
	case !q.met(trouble):
		q.json(http.StatusOK, object{"entry": q.entry(path.Dir(name), f)})
	}
}

// remove deletes a file, or a folder with all that is in it; what is not there is removed.
func (s *Server) remove(q *request) {
	name := q.asksFor()
	if _, trouble := s.world.Folder(q.id, "/"); q.met(trouble) {
		return
	}
	s.world.Change(q.id, func(b *simulated.Sandbox) {
		b.Disk = maps.Clone(b.Disk)
		maps.DeleteFunc(b.Disk, func(file, _ string) bool {
			return file == name || strings.HasPrefix(file, strings.TrimSuffix(name, "/")+"/")
		})
	})
	q.json(http.StatusOK, object{})
}

func (s *Server) download(q *request) {
	name := whole(q.URL.Query().Get("path"))
	text, trouble := s.world.Read(q.id, name)
	switch {
	case trouble == simulated.NoPath:
		q.fail(http.StatusNotFound, "path '"+name+"' does not exist")
	case !q.met(trouble):
		q.w.Header().Set("Content-Type", "application/octet-stream")
		q.w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(q.w, text) // the client may have left
	}
}

// A part is one file that is written.
type part struct{ name, text string }

// upload takes a form with files, or one file as it is.
func (s *Server) upload(q *request) {
	parts, err := q.parts()
	if err != nil {
		q.fail(http.StatusBadRequest, "error parsing multipart form: "+err.Error())
		return
	}
	out := []object{}
	for _, p := range parts {
		if q.met(s.world.Write(q.id, p.name, p.text)) {
			return
		}
		out = append(out, object{"name": path.Base(p.name), "path": p.name, "type": "file"})
	}
	q.json(http.StatusOK, out)
}

func (q *request) parts() (out []part, err error) {
	name := q.URL.Query().Get("path")
	kind, params, err := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	if kind == "application/octet-stream" {
		return []part{{whole(name), string(q.body)}}, nil
	}
	form := multipart.NewReader(bytes.NewReader(q.body), params["boundary"])
	for {
		p, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		out = append(out, part{whole(named(p, name)), string(text)})
	}
}

// named is the file that a part is for, folders and all: the address says it, else the part.
func named(p *multipart.Part, name string) string {
	if name != "" {
		return name
	}
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil {
		return p.FileName()
	}
	return params["filename"]
}
