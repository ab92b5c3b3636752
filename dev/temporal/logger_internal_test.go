package temporal

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

func TestServerLog(t *testing.T) {
	var out bytes.Buffer
	plain := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	var root log.Logger = serverLog{to: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: plain}))}
	shard := log.With(root, tag.NewInt("shard", 1))
	first, second := log.With(shard, tag.NewStringTag("queue", "a")), log.With(shard, tag.NewStringTag("queue", "b"))
	first.Info("took over", tag.NewInt("tasks", 3))
	second.Debug("this is not read")
	second.Warn("slow")
	root.Error("gone")
	require.Equal(t, "level=INFO msg=\"took over\" shard=1 queue=a tasks=3\nlevel=WARN msg=slow shard=1 queue=b\nlevel=ERROR msg=gone\n", out.String())
	require.PanicsWithValue(t, "temporal server: no way on", func() { second.Fatal("no way on") })
}
