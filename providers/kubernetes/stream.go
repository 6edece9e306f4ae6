package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
	sockets "k8s.io/client-go/transport/websocket"
)

// The command's own streams are read here, and not by client-go's tools/remotecommand, which
// links every type of the Kubernetes API for three constants: a tenth of the whole program.

// converse runs the command by websockets, and by SPDY where a proxy or an old server does not
// take them. It ends with nil for exit code 0, with an [exitCode], or with why there is none.
func (p *Provider) converse(ctx context.Context, t target, command []string, out, errs io.Writer) error {
	query := url.Values{"container": {t.container}, "command": command, "stdout": {"true"}, "stderr": {"true"}}
	address := p.at(pods, t.pod.namespace, t.pod.name, "exec") + "?" + query.Encode()
	err := overSocket(ctx, p.stream, address, out, errs)
	if err != nil && speaksOtherwise(err) {
		err = overSPDY(ctx, p.stream, address, out, errs)
	}
	return err
}

// overSocket reads the channels of v5.channel.k8s.io: the first byte of a message is its channel.
func overSocket(ctx context.Context, config *rest.Config, address string, out, errs io.Writer) error {
	transport, holder, err := sockets.RoundTripperFor(config)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	conn, err := sockets.Negotiate(transport, holder, req, remotecommand.StreamProtocolV5Name)
	if err != nil {
		return err
	}
	defer conn.Close()
	return within(ctx, func() error {
		var status bytes.Buffer
		to := map[byte]io.Writer{remotecommand.StreamStdOut: out, remotecommand.StreamStdErr: errs,
			remotecommand.StreamErr: &status}
		for {
			err := deliver(conn, to)
			switch {
			case websocket.IsCloseError(err, websocket.CloseNormalClosure):
				return ending(status.Bytes(), nil)
			case err != nil:
				return ending(nil, err)
			}
		}
	})
}

// deliver copies one message to the channel that its first byte names, however long it is.
func deliver(conn *websocket.Conn, to map[byte]io.Writer) error {
	_, message, err := conn.NextReader()
	if err != nil {
		return err
	}
	var channel [1]byte
	if _, err := io.ReadFull(message, channel[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil // it is empty
		}
		return err
	}
	w := to[channel[0]]
	if w == nil {
		w = io.Discard
	}
	_, err = io.Copy(w, message)
	return err
}

// overSPDY reads the same as streams of a connection, each made with its name.
func overSPDY(ctx context.Context, config *rest.Config, address string, out, errs io.Writer) error {
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return err
	}
	conn, _, err := spdy.NegotiateStreaming(upgrader, &http.Client{Transport: transport}, req,
		remotecommand.StreamProtocolV5Name, remotecommand.StreamProtocolV4Name)
	if err != nil {
		return err
	}
	defer conn.Close()
	return within(ctx, func() error {
		var status bytes.Buffer
		var said error
		var reading sync.WaitGroup
		for _, one := range []struct {
			name string
			to   io.Writer
			err  *error
		}{{"error", &status, &said}, {"stdout", out, new(error)}, {"stderr", errs, new(error)}} {
			stream, err := conn.CreateStream(http.Header{"Streamtype": {one.name}})
			if err != nil {
				return err
			}
			reading.Go(func() { _, *one.err = io.Copy(one.to, stream) })
		}
		reading.Wait()
		return ending(status.Bytes(), said)
	})
}

// within does something that does not know the context, and does not wait for it any longer
// than that lasts.
func within(ctx context.Context, do func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An exitCode is one other than 0.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("command terminated with exit code %d", int(c)) }

// ending is what the cluster says of the end of a command, or why it could not be read.
func ending(text []byte, err error) error {
	if err != nil {
		return fmt.Errorf("error reading from error stream: %v", err) //nolint:errorlint // it says nothing of the sandbox
	}
	if len(text) == 0 {
		return nil
	}
	var status metav1.Status
	if err := json.Unmarshal(text, &status); err != nil {
		return fmt.Errorf("error stream protocol error: %w in %q", err, text)
	}
	switch {
	case status.Status == metav1.StatusSuccess:
		return nil
	case status.Status != metav1.StatusFailure:
		return errors.New("error stream protocol error: unknown error")
	case status.Reason != remotecommand.NonZeroExitCodeReason || status.Details == nil:
		return errors.New(status.Message)
	}
	for _, cause := range status.Details.Causes {
		if cause.Type == remotecommand.ExitCodeCauseType {
			code, err := strconv.ParseUint(cause.Message, 10, 8)
			if err != nil {
				return fmt.Errorf("error stream protocol error: invalid exit code value %q", cause.Message)
			}
			return exitCode(code)
		}
	}
	return errors.New("error stream protocol error: no exit code given")
}
