package config

import (
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Temporal is the cluster, as the Temporal SDK's own environment configuration
// describes it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
// TEMPORAL_TLS*, TEMPORAL_PROFILE and the profile file.
type Temporal struct {
	Address   string
	Namespace string

	// options is a function so that printing a Config shows no certificate.
	options func() client.Options
}

// Options is what client.Dial needs to reach the cluster; the caller adds its
// data converter, logger and metrics.
func (t Temporal) Options() client.Options {
	if t.options == nil {
		return client.Options{HostPort: t.Address, Namespace: t.Namespace}
	}
	return t.options()
}

// Environ lists the values for envconfig.
func (e environment) Environ() []string {
	lines := make([]string, 0, len(e.values))
	for name, value := range e.values {
		lines = append(lines, name+"="+value)
	}
	return lines
}

// LookupEnv treats an empty value as unset, as Load does.
func (e environment) LookupEnv(name string) (string, bool) {
	value := e.values[name]
	return value, value != ""
}

// homes are the variables from which the SDK derives the profile file's path.
var homes = []string{"HOME", "XDG_CONFIG_HOME", "AppData", "TEMPORAL_CONFIG_FILE"}

func loadTemporal(vars environment) (Temporal, error) {
	request := envconfig.LoadClientOptionsRequest{EnvLookup: vars, DisableFile: true}
	for _, name := range homes {
		if vars.values[name] != "" {
			request.DisableFile = false
		}
	}
	options, err := envconfig.LoadClientOptions(request)
	if err != nil {
		return Temporal{}, fmt.Errorf("TEMPORAL_*: %w", err)
	}
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	return Temporal{
		Address: options.HostPort, Namespace: options.Namespace,
		options: func() client.Options { return options },
	}, nil
}
