package kubernetestest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
)

// A command as a client sends it, and as the world understands it. A script with arguments
// (sh -c SCRIPT NAME SECONDS WHAT) does what its last argument says: one that is called
// files lists a folder, any other runs a command.
type command struct {
	files bool
	what  string
	limit time.Duration
}

func commandOf(argv []string) command {
	c := command{limit: time.Minute}
	if len(argv) == 0 {
		return c
	}
	if len(argv) < 6 || argv[0] != "sh" || argv[1] != "-c" {
		c.what = argv[len(argv)-1]
		if len(argv) < 3 || argv[1] != "-c" {
			c.what = joined(argv)
		}
		return c
	}
	seconds, _ := strconv.Atoi(argv[4])
	return command{files: argv[3] == "files", what: argv[5], limit: time.Duration(seconds) * time.Second}
}

func joined(argv []string) string {
	out := argv[0]
	for _, arg := range argv[1:] {
		out += " " + arg
	}
	return out
}

func (s *Server) kindOfExec(r *http.Request) simulated.Kind {
	if commandOf(r.URL.Query()["command"]).files {
		return simulated.Files
	}
	return simulated.Exec
}

// An end is how a command ended: with an exit code, or without in the node's words.
type end struct {
	hangs  bool
	exit   int
	out    string
	err    string
	broken string // no process could be started
}

func (s *Server) exec(x wiretest.Exchange) {
	name := x.R.PathValue("name")
	b, _, ok := s.find(pods, x.R.PathValue("ns"), name)
	container := x.R.URL.Query().Get("container")
	switch {
	case !ok:
		notFound(x, pods)
		return
	case container != unit && container != "proxy":
		fail(x.W, x.R, http.StatusBadRequest, fmt.Sprintf("container %s is not valid for pod %s", container, name))
		return
	case s.denied("get", pods, "exec") && x.R.Method == http.MethodGet, s.denied("create", pods, "exec"):
		fail(x.W, x.R, http.StatusForbidden, fmt.Sprintf("pods %q is forbidden: cannot get resource \"pods/exec\"", name))
		return
	}
	e, trouble := s.run(b, commandOf(x.R.URL.Query()["command"]))
	switch trouble {
	case simulated.NotRunning:
		fail(x.W, x.R, http.StatusBadRequest, fmt.Sprintf("pod %s does not have a host assigned", name))
	case simulated.Unknown:
		notFound(x, pods)
	case simulated.Lost:
		fail(x.W, x.R, http.StatusInternalServerError, fmt.Sprintf("container not found (%q)", unit))
	default:
		s.connect(x, e)
	}
}

const runc = "error executing command in container: failed to exec in container: failed to start exec \"5a4d\": " +
	"OCI runtime exec failed: exec failed: unable to start container process: "

// run is what a command comes to, in the words of a node with containerd.
func (s *Server) run(b simulated.Sandbox, c command) (end, simulated.Trouble) {
	var r simulated.Result
	var trouble simulated.Trouble
	if c.files {
		_, trouble = s.world.Folder(b.ID, c.what)
	} else {
		r, trouble = s.world.Exec(b.ID, c.what, c.limit)
	}
	switch {
	case trouble == simulated.Healthy && r.Exit < 0:
		return end{broken: runc + "fork/exec /bin/sh: resource temporarily unavailable: unknown"}, ""
	case trouble == simulated.Healthy:
		return end{exit: r.Exit, out: r.Output}, ""
	case trouble == simulated.Hung:
		return end{hangs: true}, ""
	case trouble == simulated.TimedOut:
		return end{exit: 124}, ""
	case trouble == simulated.NoPath:
		return end{exit: 41, err: "ls: " + c.what + ": No such file or directory\n"}, ""
	case trouble == simulated.Dead:
		return end{broken: runc + "exec: \"sh\": executable file not found in $PATH: unknown"}, ""
	}
	return end{}, trouble
}

func (e end) status() []byte {
	out := status{Metadata: map[string]any{}, Status: "Success"}
	switch {
	case e.broken != "":
		out = failure(http.StatusInternalServerError, "Internal error occurred: "+e.broken)
	case e.exit != 0:
		out.Status, out.Reason = "Failure", "NonZeroExitCode"
		out.Message = fmt.Sprintf("command terminated with non-zero exit code: exit status %d", e.exit)
		out.Details = map[string]any{"causes": []object{{"reason": "ExitCode", "message": strconv.Itoa(e.exit)}}}
	}
	text, _ := json.Marshal(out) // it always encodes
	return text
}

// connect takes the connection over, in the protocol that the client asks for.
func (s *Server) connect(x wiretest.Exchange, e end) {
	sockets := websocket.IsWebSocketUpgrade(x.R)
	switch {
	case sockets && s.o.NoSockets:
		fail(x.W, x.R, http.StatusBadRequest, "unable to upgrade: unsupported protocol")
	case sockets:
		s.overSocket(x, e)
	default:
		s.overSPDY(x, e)
	}
}

// The channels of v5.channel.k8s.io.
const (
	chanOut = 1
	chanErr = 2
	chanEnd = 3
)

func (s *Server) overSocket(x wiretest.Exchange, e end) {
	up := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	conn, err := up.Upgrade(x.W, x.R, http.Header{"Date": x.W.Header()["Date"]})
	if err != nil {
		return // it answered
	}
	defer conn.Close()
	if e.hangs {
		_, _, _ = conn.ReadMessage() // until the client leaves
		return
	}
	for channel, text := range []string{chanOut: e.out, chanErr: e.err, chanEnd: string(e.status())} {
		if text != "" {
			_ = conn.WriteMessage(websocket.BinaryMessage, append([]byte{byte(channel)}, text...))
		}
	}
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""),
		time.Now().Add(time.Second))
	_, _, _ = conn.ReadMessage() // until the client has read it
}

// overSPDY serves the older protocol, with the streams that the client makes.
func (s *Server) overSPDY(x wiretest.Exchange, e end) {
	if _, err := httpstream.Handshake(x.R, x.W, []string{"v5.channel.k8s.io", "v4.channel.k8s.io"}); err != nil {
		fail(x.W, x.R, http.StatusBadRequest, "unable to upgrade: "+err.Error())
		return
	}
	streams := make(chan httpstream.Stream, 4)
	taken := func(stream httpstream.Stream, replied <-chan struct{}) error {
		go func() { <-replied; streams <- stream }()
		return nil
	}
	conn := spdy.NewResponseUpgrader().UpgradeResponse(x.W, x.R, taken)
	if conn == nil {
		return // it answered
	}
	defer conn.Close()
	texts := map[string]string{"stdout": e.out, "stderr": e.err, "error": string(e.status())}
	for range len(texts) {
		select {
		case stream := <-streams:
			if !e.hangs {
				_, _ = stream.Write([]byte(texts[stream.Headers().Get("streamType")])) // the client may have left
				_ = stream.Close()
			}
		case <-conn.CloseChan():
			return
		}
	}
	<-conn.CloseChan()
}
