package main

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// A wire carries TCP connections to somewhere, and can be cut, slowed and broken in half.
type wire struct {
	listener net.Listener
	done     sync.WaitGroup

	mu    sync.Mutex
	to    string // "network:address"
	mood  mood
	links []*link
	moved chan struct{} // closed at each change of mood
}

// A mood is what a wire does to what it carries. The zero mood is a good wire.
type mood struct {
	refuse  bool          // a new connection is cut at once
	swallow bool          // what is sent is lost, and nobody is told: those connections stay so for good
	stall   bool          // what is sent waits for the end of the mood
	delay   time.Duration // of each piece
	rate    int           // bytes in a second, 0: any
}

// A link is one connection, with both of its ends.
type link struct {
	near, far net.Conn
	deaf      bool // it was there while the wire swallowed
}

func stretch(t *testing.T, to string) *wire {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, to: to, moved: make(chan struct{})}
	w.done.Go(w.accept)
	t.Cleanup(func() {
		l.Close()
		w.become(mood{refuse: true})
		w.cut()
		w.done.Wait()
	})
	return w
}

func (w *wire) address() string { return w.listener.Addr().String() }

// become changes what the wire does from now on.
func (w *wire) become(m mood) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mood = m
	close(w.moved)
	w.moved = make(chan struct{})
	for _, l := range w.links {
		l.deaf = l.deaf || m.swallow
	}
}

// lead takes new connections somewhere else.
func (w *wire) lead(to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
}

// cut resets all connections there are.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.links {
		reset(l.near)
		reset(l.far)
	}
	w.links = nil
}

// reset ends a connection in the hard way: the other side reads "connection reset by peer".
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // closed meanwhile is as good
	}
	c.Close()
}

func (w *wire) accept() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		if !w.join(near) {
			reset(near)
		}
	}
}

// join makes a link for a new connection.
func (w *wire) join(near net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mood.refuse {
		return false
	}
	far, err := net.DialTimeout("tcp", w.to, 5*time.Second)
	if err != nil {
		return false
	}
	l := &link{near: near, far: far, deaf: w.mood.swallow}
	w.links = append(w.links, l)
	w.done.Go(func() { w.pump(l, near, far) })
	w.done.Go(func() { w.pump(l, far, near) })
	return true
}

// pump carries what one side sends, until that ends.
func (w *wire) pump(l *link, from, to net.Conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && w.carries(l, n) {
			if _, err := to.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	if !w.lost(l) { // the end of a connection is lost as well
		from.Close()
		to.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.links = slices.DeleteFunc(w.links, func(o *link) bool { return o == l })
	}
}

// carries waits as the mood has it, and reports whether the piece arrives.
func (w *wire) carries(l *link, n int) bool {
	w.mu.Lock()
	m, moved := w.mood, w.moved
	w.mu.Unlock()
	for m.stall {
		<-moved
		w.mu.Lock()
		m, moved = w.mood, w.moved
		w.mu.Unlock()
	}
	wait := m.delay
	if m.rate > 0 {
		wait += time.Second * time.Duration(n) / time.Duration(m.rate)
	}
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-moved:
		}
	}
	return !w.lost(l)
}

func (w *wire) lost(l *link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.deaf
}
