package main

import (
	"fmt"
	"io"
)

// tell prints the digests and sizes, and fails when an image is too large.
func (m set) tell(out io.Writer, most int64) error {
	digest, err := m.index.Digest()
	if err != nil {
		return err
	}
	for _, p := range m.parts {
		size, err := p.size()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d bytes compressed\n", p.platform.String(), size)
		if most > 0 && size > most {
			return fmt.Errorf("%s: %d bytes compressed, at most %d", p.platform.String(), size, most)
		}
	}
	_, err = fmt.Fprintln(out, digest)
	return err
}

// size is what a machine downloads of it: the layers.
func (p part) size() (total int64, err error) {
	layers, err := p.image.Layers()
	if err != nil {
		return 0, err
	}
	for _, l := range layers {
		size, err := l.Size()
		if err != nil {
			return 0, err
		}
		total += size
	}
	return total, nil
}
