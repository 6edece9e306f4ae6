package daytonatest_test

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

const (
	twoFiles = "--b\r\nContent-Disposition: form-data; name=\"files[0].path\"\r\n\r\n/tmp/a\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"files[0].file\"; filename=\"a\"\r\n\r\nAA\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"files[1].path\"\r\n\r\n/tmp/b\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"files[1].file\"; filename=\"b\"\r\n\r\nB\r\n--b--\r\n"
	form = "multipart/form-data; boundary=b"
)

// parts are the parts of a download, by file name: name of the part and text.
func (l *lab) parts(path, body string) map[string]string {
	l.t.Helper()
	req, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, l.url+path, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer key")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	defer res.Body.Close()
	_, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		l.t.Fatal(err)
	}
	found := map[string]string{}
	for r := multipart.NewReader(res.Body, params["boundary"]); ; {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			l.t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			l.t.Fatal(err)
		}
		_, disposition, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		found[disposition["filename"]] = part.FormName() + ": " + string(text)
	}
}

func TestFilesGoUpAndDown(t *testing.T) {
	l := start(t)
	id := l.world.Put(simulated.Sandbox{}).ID
	inside := "/toolbox/" + id + "/files/"
	if status, out, _ := l.call("POST", inside+"bulk-upload", twoFiles, "Content-Type", form); status != 200 {
		t.Fatalf("upload = %d %v", status, out)
	}
	got := l.parts(inside+"bulk-download", `{"paths":["/tmp/a","/tmp/b","/tmp/c"]}`)
	if len(got) != 3 || got["/tmp/a"] != "file: AA" || got["/tmp/b"] != "file: B" ||
		!strings.HasPrefix(got["/tmp/c"], "error: ") || !strings.Contains(got["/tmp/c"], "FILE_NOT_FOUND") {
		t.Errorf("download = %v, want two files and an error", got)
	}
}

func TestFilesAreRefused(t *testing.T) {
	l := start(t)
	id := l.world.Put(simulated.Sandbox{}).ID
	dead := l.world.Put(simulated.Sandbox{Files: simulated.Dead}).ID
	for what, c := range map[string]struct {
		path, kind, body string
		want             int
	}{
		"an upload that is no form":       {id + "/files/bulk-upload", "text/plain", "x", 400},
		"an upload that is cut":           {id + "/files/bulk-upload", form, before(twoFiles, "A\r\n"), 400},
		"an upload into a broken sandbox": {dead + "/files/bulk-upload", form, twoFiles, 502},
		"a download of nothing":           {id + "/files/bulk-download", "application/json", `{"paths":[]}`, 400},
		"a download from a broken one":    {dead + "/files/bulk-download", "application/json", `{"paths":["/a"]}`, 502},
	} {
		if status, out, _ := l.call("POST", "/toolbox/"+c.path, c.body, "Content-Type", c.kind); status != c.want {
			t.Errorf("%s = %d %v, want %d", what, status, out, c.want)
		}
	}
}

// before is a text up to a mark.
func before(text, mark string) string {
	head, _, _ := strings.Cut(text, mark)
	return head
}
