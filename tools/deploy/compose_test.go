package deploy

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"coachline/internal/config"
	"coachline/models/wire"
)

const composeFile = "../docker-compose.yml"

// filled is what an operator puts into .env.
func filled() types.Mapping {
	return types.Mapping{
		"COACHLINE_DB_PASSWORD": "aaaa", "TEMPORAL_DB_PASSWORD": "bbbb",
		"COACH_PAYLOAD_KEYS": "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		"COACH_API_TOKEN":    strings.Repeat("c", 32), "COACH_PUBLIC_URL": "https://coach.example.org",
		"OPENAI_API_KEY": "dddd", "TWILIO_ACCOUNT_SID": "AC0123456789abcdef0123456789abcdef",
		"TWILIO_AUTH_TOKEN": "eeee", "TWILIO_FROM": "+15550100001",
	}
}

func load(t *testing.T, env types.Mapping, profiles ...string) (*types.Project, error) {
	t.Helper()
	content, err := os.ReadFile(composeFile)
	require.NoError(t, err)
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir:  "..",
		ConfigFiles: []types.ConfigFile{{Filename: composeFile, Content: content}},
		Environment: env,
	}, loader.WithProfiles(profiles))
}

func project(t *testing.T) *types.Project {
	t.Helper()
	p, err := load(t, filled())
	require.NoError(t, err)
	return p
}

// The namespace gets every search attribute that the workflows set.
func TestNamespaceHasTheSearchAttributes(t *testing.T) {
	script, err := os.ReadFile("temporal/namespace.sh")
	require.NoError(t, err)
	list := regexp.MustCompile(`for pair in ([^;]+);`).FindSubmatch(script)
	require.NotNil(t, list)
	have := map[string]string{}
	for _, pair := range strings.Fields(string(list[1])) {
		name, kind, _ := strings.Cut(pair, ":")
		have[name] = kind
	}
	require.Equal(t, wire.SearchAttributes(), have)
}

func TestComposeNeedsItsSecrets(t *testing.T) {
	for _, name := range []string{
		"COACHLINE_DB_PASSWORD", "TEMPORAL_DB_PASSWORD", "COACH_PAYLOAD_KEYS", "COACH_API_TOKEN",
		"COACH_PUBLIC_URL", "OPENAI_API_KEY", "TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN",
	} {
		t.Run(name, func(t *testing.T) {
			env := filled()
			delete(env, name)
			_, err := load(t, env)
			require.ErrorContains(t, err, name)
		})
	}
}

// The roles get an environment that their own configuration accepts: every
// name is known, every value valid, nothing they need is missing.
func TestComposeConfiguresTheRoles(t *testing.T) {
	p := project(t)
	for _, role := range []config.Role{config.RoleWorker, config.RoleStarter} {
		t.Run(string(role), func(t *testing.T) {
			service, err := p.GetService(string(role))
			require.NoError(t, err)
			require.Equal(t, types.ShellCommand{string(role)}, service.Command)
			cfg, err := config.Load(environOf(t, service), nil)
			require.NoError(t, err)
			require.NoError(t, cfg.Validate(role))
			require.Equal(t, "temporal:7233", cfg.Temporal.Address)
			require.Equal(t, "21:00-08:00", cfg.Coaching.QuietHours)
		})
	}
}

// environOf returns the environment of a service, of which package config knows
// every name.
func environOf(t *testing.T, service types.ServiceConfig) []string {
	t.Helper()
	known := variables(t)
	var environ []string
	for name, value := range service.Environment {
		require.Contains(t, known, name)
		if value != nil { // else not set
			environ = append(environ, name+"="+*value)
		}
	}
	return environ
}

// TestSettingsArrive: what an operator puts into .env reaches each role that reads it,
// but for what the project itself decides.
func TestSettingsArrive(t *testing.T) {
	env := filled()
	for _, name := range variables(t) {
		if env[name] == "" {
			env[name] = "set"
		}
	}
	p, err := load(t, env)
	require.NoError(t, err)
	decided := []string{"DATABASE_URL", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_PROFILE", "COACH_HTTP_ADDR", "COACH_METRICS_ADDR"}
	for _, role := range []config.Role{config.RoleWorker, config.RoleStarter} {
		service, err := p.GetService(string(role))
		require.NoError(t, err)
		for _, name := range config.ReadBy(role) {
			if !slices.Contains(decided, name) && !strings.HasPrefix(name, "TEMPORAL_") {
				value := service.Environment[name]
				require.NotNil(t, value, "%s does not reach the %s", name, role)
				require.Equal(t, env[name], *value, name)
			}
		}
		require.True(t, service.ReadOnly)
		require.NotNil(t, service.HealthCheck, role)
		require.NotZero(t, service.MemLimit, role)
	}
}

func TestComposeNamesWhatExists(t *testing.T) {
	p := project(t)
	require.Equal(t, map[string]string{"8080": "starter", "8233": "temporal-ui"}, checkServices(t, p))
	starter, err := p.GetService("starter")
	require.NoError(t, err)
	require.Equal(t, ":8080", (*starter.Environment["COACH_HTTP_ADDR"])[len("0.0.0.0"):])
	require.Equal(t, uint32(8080), starter.Ports[0].Target)
	require.Contains(t, strings.Join(starter.HealthCheck.Test, " "), ":8080/readyz")
}

// checkServices checks what each service of a project names, and returns the
// published ports.
func checkServices(t *testing.T, p *types.Project) map[string]string {
	t.Helper()
	pinned := regexp.MustCompile(`:v?\d+\.\d+[\w.-]*$`)
	published := map[string]string{}
	for name, service := range p.Services {
		if service.Build == nil {
			require.Regexp(t, pinned, service.Image, name)
		}
		for dependency, condition := range service.DependsOn {
			needed, err := p.GetService(dependency)
			require.NoError(t, err, name)
			if condition.Condition == types.ServiceConditionHealthy {
				require.NotNil(t, needed.HealthCheck, "%s waits for the health of %s", name, dependency)
			}
		}
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, name)
			require.Empty(t, published[port.Published], "%s publishes a taken port", name)
			published[port.Published] = name
		}
		for _, volume := range service.Volumes {
			if volume.Type == types.VolumeTypeBind {
				_, err := os.Stat(volume.Source)
				require.NoError(t, err, name)
			} else {
				require.Contains(t, p.Volumes, volume.Source, name)
			}
		}
	}
	return published
}

// TestComposeProxy: the proxy of its profile passes on all but metrics, and a stream as
// it comes.
func TestComposeProxy(t *testing.T) {
	p, err := load(t, filled(), "proxy")
	require.NoError(t, err)
	proxy, err := p.GetService("proxy")
	require.NoError(t, err)
	require.Equal(t, "https://coach.example.org", *proxy.Environment["COACH_PUBLIC_URL"])
	require.Equal(t, "/etc/caddy/Caddyfile", proxy.Volumes[1].Target)
	raw, err := os.ReadFile(proxy.Volumes[1].Source)
	require.NoError(t, err)
	for _, line := range []string{"{$COACH_PUBLIC_URL} {", "respond /metrics 404", "reverse_proxy starter:8080 {", "flush_interval -1"} {
		require.Contains(t, string(raw), line)
	}
}

func TestComposeHasSeveralWorkers(t *testing.T) {
	worker, err := project(t).GetService("worker")
	require.NoError(t, err)
	require.Empty(t, worker.ContainerName, "a fixed name allows one replica only")
	require.Equal(t, 2, *worker.Deploy.Replicas)
}

// The server that compose starts is the one that the tests run.
func TestComposeRunsTheTestedVersions(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	p := project(t)
	for service, module := range map[string]string{
		"temporal":           "go.temporal.io/server",
		"temporal-schema":    "go.temporal.io/server",
		"temporal-namespace": "go.temporal.io/server",
		"temporal-ui":        "github.com/temporalio/ui-server/v2",
	} {
		_, version, _ := strings.Cut(p.Services[service].Image, ":")
		require.Contains(t, string(mod), module+" v"+version, service)
	}
	goVersion := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(mod)
	require.NotNil(t, goVersion)
	dockerfile, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(dockerfile), "FROM golang:"+string(goVersion[1])+"-")
}

func TestEnvExampleNamesWhatComposeReads(t *testing.T) {
	compose, err := os.ReadFile(composeFile)
	require.NoError(t, err)
	example, err := os.ReadFile("../.env.example")
	require.NoError(t, err)
	asked := map[string]bool{}
	for _, match := range regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllSubmatch(compose, -1) {
		asked[string(match[1])] = true
	}
	delete(asked, "COACHLINE_VERSION") // a tag of the image, not a setting
	named, known := map[string]bool{}, variables(t)
	for _, match := range regexp.MustCompile(`(?m)^(?:# )?([A-Z_]+)=(.*)$`).FindAllSubmatch(example, -1) {
		name, value := string(match[1]), string(match[2])
		named[name] = true
		require.True(t, asked[name] || slices.Contains(known, name), "compose does not read %s", name)
		if name != "WORKER_REPLICAS" && name != "COACH_PRICES_FILE" {
			require.Empty(t, value, "no value, least of all a secret, belongs into the example")
		}
	}
	for name := range asked {
		require.True(t, named[name], "%s is not in the example", name)
	}
}

func TestScriptsAreExecutable(t *testing.T) {
	for _, pattern := range []string{"*/*.sh", "../.ci/run"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&0o100, file)
		}
	}
}

// variables are the names that package config knows.
func variables(t *testing.T) []string {
	t.Helper()
	// What is missing or wrong in an empty environment does not matter here.
	cfg, _ := config.Load(nil, nil)
	var names []string
	for _, setting := range cfg.Table() {
		names = append(names, setting.Name)
	}
	require.Contains(t, names, "DATABASE_URL")
	return names
}
