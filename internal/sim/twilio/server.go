// Package twilio stands in for Twilio's Messages API and the phone network
// behind it, for development and for tests over real HTTP. It takes texts, posts
// signed delivery reports and the texts of its phones, and goes wrong where a
// test asks for it: by an armed fault (POST /sim/faults), or by the hooks of
// Config. Its server also has the phone page and the scripted model of package
// openai, so that development needs one address. It is part of dev and never of
// production.
package twilio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"coachline/internal/sim/openai"
)

const (
	// callbackTimeout is the carrier's total for one webhook.
	callbackTimeout = 15 * time.Second
	// closeTimeout bounds how long Close waits for webhooks in flight.
	closeTimeout = 5 * time.Second
	maxBody      = 10 << 20
	scriptNote   = "This is a script, not a model."
)

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// Config is what a Server needs. AccountSID, AuthToken and From are required.
type Config struct {
	AccountSID string
	AuthToken  string
	// From is the one number that texts are sent from and to.
	From string
	// InboundURL is posted what the phones send. Empty: phones cannot send.
	InboundURL string
	// StatusURL is told what becomes of a text whose request names no
	// StatusCallback of its own; empty reports nothing.
	StatusURL string
	// ParticipantsURL is where the phone page enrols people. Empty: it cannot.
	ParticipantsURL string
	// APIToken is shown to ParticipantsURL, and to no page.
	APIToken string
	// Hosts are names, in lower case, that requests may be for beside this machine's.
	Hosts []string
	// Dir keeps phones and texts over a restart, in a file that holds them in
	// the clear; empty keeps them in memory.
	Dir string
	// DeliveryDelay passes before each of the states sent and delivered.
	DeliveryDelay time.Duration
	// OnSend serves a request to send that has the account's key; nil accepts
	// the text, answers, and reports its delivery.
	OnSend func(w http.ResponseWriter, r *http.Request, send *Send)
	// OnList serves a request for the list of texts, by calling next once or
	// not at all; nil calls next.
	OnList func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc)
	// ListLag is how late the list shows a text that was accepted.
	ListLag time.Duration
	// Forget keeps no text: lists are empty, and memory does not grow.
	Forget bool
	// KeepTrying is how long a webhook is repeated while the app is down or
	// answers 5xx; 0 is a minute.
	KeepTrying time.Duration
	Logger     *slog.Logger
	HTTPClient *http.Client
	Now        func() time.Time
}

func (cfg *Config) check() error {
	if cfg.AccountSID == "" || cfg.AuthToken == "" {
		return errors.New("AccountSID and AuthToken are required")
	}
	if !e164.MatchString(cfg.From) {
		return errors.New("setting From: want a number with + and country code")
	}
	addresses := map[string]string{"InboundURL": cfg.InboundURL, "StatusURL": cfg.StatusURL, "ParticipantsURL": cfg.ParticipantsURL}
	for name, address := range addresses {
		if address != "" && !webAddress(address) {
			return fmt.Errorf("%s: want http:// or https:// and a host", name)
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Timeout: callbackTimeout}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.KeepTrying == 0 {
		cfg.KeepTrying = keepTrying
	}
	return nil
}

func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Server is the simulated phone network and the scripted model. It is safe for
// concurrent use.
type Server struct {
	cfg     Config
	network *network
	faults  *faults
	courier *webhookPoster
	usage   usage
	// closing ends what waits: held answers, delays, retries.
	closing context.Context //nolint:containedctx // the server's context, not a call's
	stop    context.CancelFunc
}

// New checks cfg, reads what an earlier run left in Dir, and goes on with the
// webhooks that it owed. Errors name the setting or the file.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("checking the simulator's settings: %w", err)
	}
	network, err := openNetwork(cfg.Dir, cfg.Now)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, network: network, faults: newFaults(cfg.Now)}
	s.closing, s.stop = context.WithCancel(context.Background())
	s.courier = newCourier(s.closing, cfg, network, s.faults)
	s.courier.resumeOwed()
	return s, nil
}

// Close ends held answers and retries, waits at most 5 seconds for webhooks in
// flight, and closes the file. What is still owed is owed to the next run on
// the same Dir. Stop serving Handler first.
func (s *Server) Close() error {
	s.stop()
	s.courier.close(closeTimeout)
	return s.network.close()
}

// Handler serves the phone network under /2010-04-01/ and /sim/, the scripted
// model under /v1/, and /version. It has no protection but what Twilio's and
// OpenAI's have, and refuses requests for foreign hosts: serve it on a loopback
// address or in a network of one's own only.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	const messages = "/2010-04-01/Accounts/{sid}/Messages"
	mux.Handle("POST "+messages+".json", s.carrier(targetCarrier, s.serveSend))
	mux.Handle("GET "+messages+".json", s.carrier(targetLookup, s.serveList))
	mux.Handle("GET "+messages+"/{file}", s.carrier(targetLookup, s.fetchMessage))
	mux.Handle("DELETE "+messages+"/{file}", s.carrier(targetLookup, s.deleteMessage))
	mux.Handle("GET "+messages+"/{message}/Media.json", s.carrier(targetLookup, s.listMedia))
	mux.Handle("GET "+messages+"/{message}/Media/{media}", s.carrier(targetLookup, s.serveMedia))
	mux.Handle("DELETE "+messages+"/{message}/Media/{media}", s.carrier(targetLookup, s.deleteMedia))

	mux.HandleFunc("GET /v2/PhoneNumbers/{number}", s.serveLookup)
	mux.Handle("/v1/", s.newModel().Handler())
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{
			"name": "simulated phone network and scripted model", "model": openai.Model, "note": scriptNote,
		})
	})

	// A page of another site must not be able to text as one of the phones.
	local := http.NewCrossOriginProtection()
	mux.Handle("GET /sim/", servePage())
	mux.Handle("POST /sim/participants", local.Handler(http.HandlerFunc(s.enrol)))
	mux.HandleFunc("GET /sim/usage", s.showUsage)
	mux.HandleFunc("GET /sim/phones", s.listPhones)
	mux.Handle("POST /sim/phones", local.Handler(http.HandlerFunc(s.addPhone)))
	mux.HandleFunc("GET /sim/phones/{number}/messages", s.showPhone)
	mux.Handle("POST /sim/phones/{number}/messages", local.Handler(http.HandlerFunc(s.textIn)))
	mux.HandleFunc("GET /sim/faults", s.listFaults)
	mux.Handle("POST /sim/faults", local.Handler(http.HandlerFunc(s.armFault)))
	mux.Handle("DELETE /sim/faults", local.Handler(http.HandlerFunc(s.clearFaults)))
	return onlyKnownHosts(s.cfg.Hosts, mux)
}
