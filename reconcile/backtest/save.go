package backtest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
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
const savedVersion = 1

type savedClass struct{ Template, Kind, Provider, Hour string }

type savedTally struct {
	Rule    string
	After   map[uint16]time.Duration
	Samples []byte // see [sample.bytes]
}

// sampleSize is how many bytes one sample is saved in.
const sampleSize = 7*4 + 2 + 1 + 1

// bytes are the sample as it is saved.
func (s *sample) bytes(to []byte) []byte {
	for _, n := range [...]uint32{s.ended, s.from, uint32(s.longest), uint32(s.second), uint32(s.last), uint32(s.cut),
		uint32(s.late)} {
		to = binary.LittleEndian.AppendUint32(to, n)
	}
	to = binary.LittleEndian.AppendUint16(to, s.class)
	flags := byte(0)
	for i, is := range [...]bool{s.own, s.wrong, s.spared} {
		if is {
			flags |= 1 << i
		}
	}
	return append(to, byte(s.outcome), flags)
}

func sampleOf(b []byte) sample {
	n := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	m := func(i int) millis { return millis(n(i)) }
	flags := b[31]
	return sample{ended: n(0), from: n(1), longest: m(2), second: m(3), last: m(4), cut: m(5), late: m(6),
		class: binary.LittleEndian.Uint16(b[28:]), outcome: Outcome(b[30]),
		own: flags&1 != 0, wrong: flags&2 != 0, spared: flags&4 != 0}
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
		err = gob.NewDecoder(io.LimitReader(packed, mostSaved)).Decode(&s)
	}
	if err == nil {
		err = r.take(&s)
	}
	if err != nil {
		return nil, fmt.Errorf("go on with the history: %w", err)
	}
	return r, nil
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
		if one.Rule != t.rule || len(one.Samples)%sampleSize != 0 {
			return errors.New("it was saved of other rules")
		}
		if one.After != nil {
			t.after = one.After
		}
		for at := 0; at < len(one.Samples); at += sampleSize {
			t.samples = append(t.samples, sampleOf(one.Samples[at:]))
		}
	}
	return nil
}
