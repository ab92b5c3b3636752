package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"coachline/dev/temporal"
	"coachline/internal/config"
)

const (
	simulatedAccount = "ACd0000000000000000000000000000000"
	simulatedNumber  = "+15005550006"
)

// addresses are where the parts listen and are reached; every port is known
// before anything starts, because the parts are told about each other.
type addresses struct {
	http     string // the API listens here
	api      string // and is reached here
	temporal int
	ui       int
	sim      int
}

// plan is all that a start needs to know.
type plan struct {
	options  options
	folder   *folder
	at       addresses
	settings config.Config
	// supplied is what dev adds to the environment; a role in a process of its
	// own needs the same.
	supplied config.Defaults
	token    string // the simulator's
	from     string // the simulator's number
	// simulated and scripted: the carrier and the model are dev's own.
	simulated bool
	scripted  bool
}

func newPlan(o options, f *folder, environ []string) (plan, error) {
	given := lookup(environ)
	p := plan{
		options: o, folder: f, from: simulatedNumber,
		simulated: !given.any("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_AUTH_TOKEN_FILE", "TWILIO_BASE_URL"),
		scripted:  !given.any("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_API_KEYS", "OPENAI_API_KEYS_FILE", "COACH_KEYS_FILE", "OPENAI_BASE_URL"),
	}
	if number := given["TWILIO_FROM"]; number != "" {
		p.from = number
	}
	var err error
	if p.at, err = choose(o, given); err != nil {
		return plan{}, err
	}
	if p.token, err = f.simulatorToken(); err != nil {
		return plan{}, err
	}
	if p.supplied, err = p.supply(given); err != nil {
		return plan{}, err
	}
	p.settings, err = config.Load(p.environ(environ), p.supplied)
	if err != nil {
		return plan{}, err
	}
	return p, errors.Join(p.settings.Validate(config.RoleWorker), p.settings.Validate(config.RoleStarter))
}

// supply is what stands in for the settings that the environment leaves out.
func (p plan) supply(given variables) (config.Defaults, error) {
	database := "sqlite:" + p.folder.file(databaseFile)
	if p.options.sync == string(temporal.SyncFull) {
		database += "?_pragma=synchronous(full)"
	}
	supplied := config.Defaults{
		"DATABASE_URL":       database,
		"TEMPORAL_ADDRESS":   local(p.at.temporal),
		"TEMPORAL_NAMESPACE": given.or("TEMPORAL_NAMESPACE", "default"),
		"COACH_HTTP_ADDR":    p.at.http,
		"COACH_PUBLIC_URL":   p.at.api,
		"COACH_PHONES_URL":   "http://" + local(p.at.sim) + "/sim/",
		"COACH_UI_ORIGIN":    fmt.Sprintf("http://%s,http://localhost:%d", local(p.at.ui), p.at.ui),
	}
	if !given.any("COACH_PAYLOAD_KEYS", "COACH_PAYLOAD_KEYS_FILE") {
		key, err := p.folder.payloadKey()
		if err != nil {
			return nil, err
		}
		supplied["COACH_PAYLOAD_KEYS"] = key
	}
	if p.simulated {
		supplied["TWILIO_ACCOUNT_SID"] = simulatedAccount
		supplied["TWILIO_AUTH_TOKEN"] = p.token
		supplied["TWILIO_FROM"] = p.from
		supplied["TWILIO_BASE_URL"] = "http://" + local(p.at.sim)
	}
	if p.scripted {
		// The scripted model takes any key, as long as there is one.
		supplied["OPENAI_API_KEY"] = "script"
		supplied["OPENAI_BASE_URL"] = "http://" + local(p.at.sim) + "/v1"
	}
	return supplied, nil
}

// environ is the process's environment without what would lead away from the
// servers that dev runs: another Temporal cluster, its profile file, and with
// the simulated carrier a public address that its webhooks do not use.
func (p plan) environ(environ []string) []string {
	kept := slices.DeleteFunc(slices.Clone(environ), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return strings.HasPrefix(name, "TEMPORAL_") || name == "COACH_HTTP_ADDR" ||
			slices.Contains([]string{"HOME", "XDG_CONFIG_HOME", "AppData"}, name) ||
			p.simulated && (name == "COACH_PUBLIC_URL" || name == "TWILIO_MESSAGING_SERVICE_SID")
	})
	return kept
}

// choose settles every port; 0 becomes a free one.
func choose(o options, given variables) (addresses, error) {
	a := addresses{http: o.http, temporal: o.temporalPort, ui: o.uiPort, sim: o.simPort}
	if !o.httpGiven {
		a.http = given.or("COACH_HTTP_ADDR", o.http)
	}
	host, portText, err := net.SplitHostPort(a.http)
	if err != nil {
		return a, fmt.Errorf("COACH_HTTP_ADDR: %w", err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return a, fmt.Errorf("the API's port %q is not a number", portText)
	}
	for _, one := range []*int{&a.temporal, &a.ui, &a.sim, &port} {
		if *one != 0 {
			continue
		}
		if *one, err = temporal.FreePort(); err != nil {
			return a, err
		}
	}
	a.http = net.JoinHostPort(host, strconv.Itoa(port))
	reached := host
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		reached = "127.0.0.1"
	}
	a.api = "http://" + net.JoinHostPort(reached, strconv.Itoa(port))
	return a, nil
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// writeEnviron leaves what dev supplied in a file that a shell can read, for a
// role or an operator's command in a process of its own.
func (p plan) writeEnviron() error {
	var text strings.Builder
	for _, name := range sortedNames(p.supplied) {
		fmt.Fprintf(&text, "%s='%s'\n", name, strings.ReplaceAll(p.supplied[name], "'", `'\''`))
	}
	if err := os.WriteFile(p.folder.file(environFile), []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", environFile, err)
	}
	return nil
}

func sortedNames(values map[string]string) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// variables is the process's environment by name.
type variables map[string]string

func lookup(environ []string) variables {
	found := variables{}
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			found[name] = strings.TrimSpace(value)
		}
	}
	return found
}

func (v variables) any(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return v[name] != "" })
}

func (v variables) or(name, fallback string) string {
	if v[name] != "" {
		return v[name]
	}
	return fallback
}
