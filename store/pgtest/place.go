package pgtest

import "os"

// base is where clusters live: in memory where that has room, unless they are to survive a
// crash of the machine. A socket's path may have only about 100 bytes, and TMPDIR is often
// longer or private, so /tmp is preferred to it.
func base(durable bool) string {
	if dir, ok := inMemory(); ok && !durable {
		return dir
	}
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		return "/tmp"
	}
	return os.TempDir()
}
