package daytonatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A file is one that a client sends, or gets.
type file struct{ path, text string }

// upload writes files that come as pairs of parts: files[N].path, files[N].file.
func (s *Server) upload(q *request) {
	q.active()
	files, err := uploaded(q)
	if err != nil {
		q.fail(http.StatusBadRequest, "bad request: "+err.Error())
		return
	}
	for _, f := range files {
		if q.met(q.world.Write(q.id, f.path, f.text)) {
			return
		}
	}
	q.json(http.StatusOK, map[string]any{})
}

func uploaded(q *request) ([]file, error) {
	_, form, err := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	parts := multipart.NewReader(bytes.NewReader(q.body), form["boundary"])
	targets := map[string]string{} // paths by the pair's name
	var out []file
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		switch pair, what, _ := strings.Cut(part.FormName(), "]."); what {
		case "path":
			targets[pair] = string(text)
		case "file":
			out = append(out, file{targets[pair], string(text)})
		}
	}
}

// download answers with a part for each path: the file, or an error in its place.
func (s *Server) download(q *request) {
	q.active()
	var in struct{ Paths []string }
	if json.Unmarshal(q.body, &in) != nil || len(in.Paths) == 0 {
		q.fail(http.StatusBadRequest, "bad request: paths are required")
		return
	}
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for _, name := range in.Paths {
		text, trouble := q.world.Read(q.id, name)
		if trouble != simulated.NoPath && q.met(trouble) {
			return
		}
		sendFile(parts, file{name, text}, trouble)
	}
	_ = parts.Close() // to memory
	q.w.Header().Set("Content-Type", parts.FormDataContentType())
	_, _ = q.w.Write(body.Bytes()) // the client may have left
}

func sendFile(parts *multipart.Writer, f file, trouble simulated.Trouble) {
	name, kind := "file", "application/octet-stream"
	if trouble == simulated.NoPath {
		name, kind = "error", "application/json"
		text, _ := json.Marshal(map[string]any{"statusCode": http.StatusNotFound, "code": "FILE_NOT_FOUND",
			"source": "DAYTONA_DAEMON", "message": "file not found: " + f.path}) // texts and a number always encode
		f.text = string(text)
	}
	w, _ := parts.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", name, f.path)},
		"Content-Type":        {kind},
	})
	_, _ = io.WriteString(w, f.text) // to memory
}
