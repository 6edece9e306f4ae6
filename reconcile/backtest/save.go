package backtest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A saved is a replay as it is kept between two runs that each read a part of the history.
type saved struct {
	Version       int
	Tasks, Events int
	Fleet         fleet
	Classes       []savedClass
	Tallies       []savedTally
}

// savedVersion rises when what a replay keeps changes its meaning.
const savedVersion = 2

type savedClass struct{ Template, Kind, Provider, Hour string }

type savedTally struct {
	Rule    string
	After   map[uint16]time.Duration
	Samples []byte // see [sample.bytes]
	Doubts  []byte // see [doubt.bytes]
}

// How many bytes one sample, and one doubt, is saved in.
const (
	sampleSize = 4*4 + 2 + 1 + 1
	doubtSize  = 3 * 4
)

// bytes are the sample as it is saved.
func (s *sample) bytes(to []byte) []byte {
	for _, n := range [...]uint32{s.ended, uint32(s.longest), uint32(s.end), uint32(s.late)} {
		to = binary.LittleEndian.AppendUint32(to, n)
	}
	return append(binary.LittleEndian.AppendUint16(to, s.class), byte(s.outcome), byte(s.marks))
}

func sampleOf(b []byte) sample {
	m := func(i int) millis { return millis(binary.LittleEndian.Uint32(b[4*i:])) }
	return sample{ended: uint32(m(0)), longest: m(1), end: m(2), late: m(3), class: binary.LittleEndian.Uint16(b[16:]),
		outcome: Outcome(b[18]), marks: marks(b[19])}
}

// bytes are the doubt as it is saved.
func (d *doubt) bytes(to []byte) []byte {
	for _, n := range [...]uint32{d.sample, d.from, uint32(d.second)} {
		to = binary.LittleEndian.AppendUint32(to, n)
	}
	return to
}

func doubtOf(b []byte) doubt {
	n := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return doubt{n(0), n(1), millis(n(2))}
}

// Save is what the replay has come to so far, for [Resume].
func (r *Replay) Save() ([]byte, error) {
	s := saved{Version: savedVersion, Tasks: r.Tasks, Events: r.Events, Fleet: *r.fleet}
	for _, c := range r.classes.names {
		s.Classes = append(s.Classes, savedClass{c.template, c.kind, c.provider, c.hour})
	}
	for _, t := range r.tallies {
		one := savedTally{Rule: t.rule, After: t.after, Samples: make([]byte, 0, len(t.samples)*sampleSize)}
		for i := range t.samples {
			one.Samples = t.samples[i].bytes(one.Samples)
		}
		for i := range t.doubts {
			one.Doubts = t.doubts[i].bytes(one.Doubts)
		}
		s.Tallies = append(s.Tallies, one)
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if err := errors.Join(gob.NewEncoder(packed).Encode(&s), packed.Close()); err != nil {
		return nil, fmt.Errorf("save what was read of the history: %w", err)
	}
	return out.Bytes(), nil
}

// mostSaved bounds what is unpacked of a saved replay.
const mostSaved = 1 << 30

// Resume goes on with a replay that was saved, under the same policy, moments and rules.
func Resume(p *reconcile.Policy, from, to time.Time, state []byte, rules ...string) (*Replay, error) {
	r := New(p, from, to, rules...)
	packed, err := gzip.NewReader(bytes.NewReader(state))
	var s saved
	if err == nil {
		err = gob.NewDecoder(&capped{packed, mostSaved}).Decode(&s)
	}
	if err == nil {
		err = r.take(&s)
	}
	if err != nil {
		return nil, fmt.Errorf("go on with the history: %w", err)
	}
	return r, nil
}

// A capped stream ends with an error where it is longer than what is saved may be.
type capped struct {
	of   *gzip.Reader
	left int
}

func (c *capped) Read(to []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("it is longer than what is saved may be")
	}
	n, err := c.of.Read(to[:min(len(to), c.left)])
	c.left -= n
	return n, err
}

func (r *Replay) take(s *saved) error {
	if s.Version != savedVersion || len(s.Tallies) != len(r.tallies) || len(s.Fleet.Runs) != len(r.fleet.Runs) ||
		len(s.Fleet.Told) != len(r.fleet.Told) || len(s.Classes) == 0 || len(s.Classes) > mostClasses+1 {
		return errors.New("it was saved by another version, or of another history")
	}
	r.Tasks, r.Events, *r.fleet = s.Tasks, s.Events, s.Fleet
	r.classes = &classes{number: map[classNames]uint16{}}
	for _, c := range s.Classes {
		r.classes.add(classNames{c.Template, c.Kind, c.Provider, c.Hour})
	}
	for i, t := range r.tallies {
		one := &s.Tallies[i]
		if one.Rule != t.rule || len(one.Samples)%sampleSize != 0 || len(one.Doubts)%doubtSize != 0 {
			return errors.New("it was saved of other rules")
		}
		if one.After != nil {
			t.after = one.After
		}
		for at := 0; at < len(one.Samples); at += sampleSize {
			t.samples = append(t.samples, sampleOf(one.Samples[at:]))
		}
		for at := 0; at < len(one.Doubts); at += doubtSize {
			d := doubtOf(one.Doubts[at:])
			if int64(d.sample) >= int64(len(t.samples)) {
				return errors.New("it was saved in pieces")
			}
			t.doubts = append(t.doubts, d)
		}
	}
	return nil
}
