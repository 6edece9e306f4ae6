package main

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// smallDisk mounts a disk of its own for a server.
func (s *siege) smallDisk(size string) (dir string) {
	s.Helper()
	dir, err := os.MkdirTemp("/tmp", "sandkeeper-disk-")
	must(s, err)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755,size="+size); err != nil {
		os.Remove(dir)
		s.Fatalf("mount a disk of %s, which takes root: %v; run make test-faults as root", size, err)
	}
	s.Cleanup(func() {
		must(s, syscall.Unmount(dir, syscall.MNT_DETACH))
		must(s, os.Remove(dir))
	})
	return dir
}

// fills takes all that is left of the disk, and gives it back.
func (s *siege) fills() (empty func()) {
	s.Helper()
	name := filepath.Join(s.disk, "ballast")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(s, err)
	defer f.Close()
	for piece := make([]byte, 1<<20); len(piece) > 0; {
		n, err := f.Write(piece)
		if err != nil { // ever smaller pieces, to the last byte
			piece = piece[:(len(piece)-n)/2]
		}
	}
	return func() { must(s, os.Remove(name)) }
}

func diskFaults() map[string]fault {
	return map[string]fault{
		"full, of the tables": {
			stage: func(s *siege) {
				s.disk = s.smallDisk("120m")
				wal, err := os.MkdirTemp("/tmp", "sandkeeper-wal-")
				must(s, err)
				s.Cleanup(func() { must(s, os.RemoveAll(wal)) })
				must(s, os.Chmod(wal, 0o777)) // the server runs as another user
				withCluster(pgtest.Options{Dir: s.disk, Initdb: []string{"-X", filepath.Join(wal, "wal")}})(s)
			},
			strike: (*siege).fills,
			page:   "", log: "disk is full",
		},
		"full, of everything": {
			stage: func(s *siege) {
				s.disk = s.smallDisk("160m")
				withCluster(pgtest.Options{Dir: s.disk, Initdb: []string{"--wal-segsize=1"},
					Settings: map[string]string{"max_wal_size": "2MB", "min_wal_size": "2MB"}})(s)
			},
			strike: func(s *siege) func() {
				empty := s.fills()
				return func() {
					empty()
					must(s, s.cluster.End(syscall.SIGQUIT)) // it may have ended by itself
					s.starts(s.cluster)
				}
			},
			log: "disk is full|ledger database",
		},
	}
}
