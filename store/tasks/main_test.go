package tasks

import (
	"testing"

	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
