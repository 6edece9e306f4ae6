package pgtest

import "syscall"

// roomy is how much must be free in memory before a cluster goes there: several of them, each
// with the most that its write-ahead log may grow to, take less.
const roomy = 2 << 30

// inMemory is Linux's file system in memory. Tests make and drop databases by the hundred, of
// 300 files each, which takes a fifth of the time there: ext4 searches long for a file's number
// when thousands were given back a moment ago.
func inMemory() (dir string, ok bool) {
	const (
		shm, tmpfs    = "/dev/shm", 0x01021994
		enterAndWrite = 1 | 2
	)
	var s syscall.Statfs_t
	if syscall.Statfs(shm, &s) != nil || s.Type != tmpfs || syscall.Access(shm, enterAndWrite) != nil {
		return "", false
	}
	return shm, s.Bavail >= roomy/uint64(s.Bsize)
}
