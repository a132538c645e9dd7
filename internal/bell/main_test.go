package bell

import (
	"testing"

	"sluice/internal/queue/queuetest"
)

func TestMain(m *testing.M) { queuetest.Main(m) }
