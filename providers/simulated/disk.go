package simulated

import (
	"cmp"
	"maps"
	"path"
)

// Write puts a file onto a sandbox's disk.
func (w *World) Write(id, name, text string) Trouble {
	s, trouble := w.reach(id)
	if trouble = cmp.Or(trouble, s.Files); trouble != Healthy {
		return trouble
	}
	w.Change(id, func(s *Sandbox) {
		disk := maps.Clone(s.Disk) // listings that lag, and copies that were handed out, keep the old one
		if disk == nil {
			disk = map[string]string{}
		}
		disk[path.Clean("/"+name)] = text
		s.Disk = disk
	})
	return Healthy
}

// Read is a file of a sandbox's disk.
func (w *World) Read(id, name string) (string, Trouble) {
	s, trouble := w.reach(id)
	if trouble = cmp.Or(trouble, s.Files); trouble != Healthy {
		return "", trouble
	}
	text, ok := s.Disk[path.Clean("/"+name)]
	if !ok {
		return "", NoPath
	}
	return text, Healthy
}
