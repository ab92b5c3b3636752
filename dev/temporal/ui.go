package temporal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
)

type webUI struct {
	server *uiserver.Server
	// done is closed when the server has ended; err says how.
	done chan struct{}
	err  error
}

func uiConfig(temporalAddress string, port int, cfg Config) *uiconfig.Config {
	return &uiconfig.Config{
		TemporalGRPCAddress: temporalAddress,
		Host:                loopback,
		Port:                port,
		EnableUI:            true,
		DefaultNamespace:    cfg.Namespace,
		Codec:               uiconfig.Codec{Endpoint: cfg.CodecEndpoint},
		// Nothing here calls out to the network.
		DisableNewsFetch: true,
		HideLogs:         true,
		// Plain HTTP on loopback: a Secure cookie would be dropped by some
		// browsers and the UI's buttons would not work.
		CORS: uiconfig.CORS{CookieInsecure: true},
	}
}

func startUI(ctx context.Context, conf *uiconfig.Config) (*webUI, error) {
	ui := &webUI{
		server: uiserver.NewServer(server_options.WithConfigProvider(conf)),
		done:   make(chan struct{}),
	}
	go func() {
		defer close(ui.done)
		ui.err = ui.server.Start()
	}()
	if err := ui.await(ctx, "http://"+hostPort(conf.Port)+"/healthz"); err != nil {
		ui.server.Stop()
		return nil, err
	}
	return ui, nil
}

// await polls: the UI's Start blocks and does not say that it listens.
func (ui *webUI) await(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if answers(ctx, address) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ui.done:
			return errors.Join(errors.New("the Temporal UI ended at once"), ui.err)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the Temporal UI: %w", ctx.Err())
		}
	}
}

func answers(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // Only the status matters.
	return resp.StatusCode == http.StatusOK
}

func (ui *webUI) stop() {
	ui.server.Stop()
	<-ui.done
}
