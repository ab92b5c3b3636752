// Command simulator serves the simulated phone network and the scripted model on an
// address of their own, for a composition of containers that needs no key: the
// worker sends to it as to Twilio and asks it as a model, and its page has the
// phones. It keeps nothing. Its settings are those of the roles: where it listens,
// the account whose texts it takes, and where the starter is.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"coachline/internal/config"
	"coachline/internal/program"
	"coachline/internal/redact"
	"coachline/internal/sim/twilio"
)

// stopLimit is how long requests may take to end when the program does.
const stopLimit = time.Second

func main() {
	program.Main("simulator", func(ctx context.Context) error { return run(ctx, os.Environ(), os.Stderr) })
}

// configure returns what the simulator needs of an environment, and where it
// listens.
func configure(environ []string, log *slog.Logger) (twilio.Config, string, error) {
	cfg, err := config.Load(environ, nil)
	if err != nil {
		return twilio.Config{}, "", err
	}
	if cfg.Carrier.AuthTokens.Len() == 0 {
		return twilio.Config{}, "", errors.New("TWILIO_AUTH_TOKEN is not set")
	}
	if cfg.HTTP.PublicURL == "" {
		return twilio.Config{}, "", errors.New("COACH_PUBLIC_URL is not set: it is where the starter takes webhooks")
	}
	out := twilio.Config{
		AccountSID: cfg.Carrier.AccountSID, AuthToken: cfg.Carrier.AuthTokens.Reveal()[0], From: cfg.Carrier.From,
		InboundURL: cfg.HTTP.PublicURL + "/twilio/inbound", StatusURL: cfg.HTTP.PublicURL + "/twilio/status",
		ParticipantsURL: cfg.HTTP.PublicURL + "/conversation/participants", APIToken: cfg.HTTP.APIToken.Reveal(), Logger: log,
	}
	if own, err := url.Parse(cfg.Carrier.BaseURL); err == nil && own.Hostname() != "" {
		out.Hosts = []string{strings.ToLower(own.Hostname())}
	}
	return out, cfg.HTTP.Addr, nil
}

// run serves until ctx ends.
func run(ctx context.Context, environ []string, to io.Writer) (err error) {
	log := slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{ReplaceAttr: redact.Attr}))
	cfg, address, err := configure(environ, log)
	if err != nil {
		return err
	}
	network, err := twilio.New(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("opening the address of the simulator: %w", err)
	}
	server := &http.Server{Handler: network.Handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	log.Info("simulator is ready", "address", listener.Addr().String(), "starter", cfg.InboundURL)
	select {
	case err := <-ended:
		return fmt.Errorf("serving the simulator: %w", err)
	case <-ctx.Done():
	}
	// A page that follows the phones keeps its connection open.
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if server.Shutdown(limit) != nil {
		return server.Close()
	}
	return nil
}
