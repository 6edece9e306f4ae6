// Package pgtest gives tests, and the demo, a real PostgreSQL that is thrown away
// afterwards.
//
// [Launch] starts a private cluster from the binaries on the machine; [Database] hands a
// test a fresh database on a cluster that the whole test binary shares. A test binary
// that uses it ends with the cluster stopped when its TestMain is
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// The package does not import testing, so that a program may link it.
package pgtest
