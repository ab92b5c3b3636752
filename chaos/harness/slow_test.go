package harness

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSlowListenerLeavesConnectionsInTheHandshake(t *testing.T) {
	listener, err := NewSlowListener(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	accepted := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
			accepted <- struct{}{}
		}
	}()
	release := listener.Hold(t.Context())
	quick := net.Dialer{Timeout: 4 * fillLimit}
	_, err = quick.DialContext(t.Context(), "tcp", listener.Addr().String())
	require.Error(t, err, "no connection is made while they are held")
	release()
	patient := net.Dialer{Timeout: time.Minute}
	conn, err := patient.DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	<-accepted
}
