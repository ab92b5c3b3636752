package connect

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"coachline/internal/config"
)

func TestMissingNamespaceIsExplained(t *testing.T) {
	var cfg config.Config
	cfg.Temporal.Address, cfg.Temporal.Namespace = "temporal:7233", "coach"
	require.EqualError(t, explainNamespace(cfg, serviceerror.NewNamespaceNotFound("coach")), "namespace coach at temporal:7233 does not exist; "+
		"create it with: temporal operator namespace create --address temporal:7233 --retention 72h coach")
	require.ErrorIs(t, explainNamespace(cfg, io.EOF), io.EOF)
}
