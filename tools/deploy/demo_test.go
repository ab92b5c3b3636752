package deploy

import (
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"coachline/internal/config"
)

// demo is the project that deploy/demo.env starts, and that file.
func demo(t *testing.T) (*types.Project, map[string]string) {
	t.Helper()
	given, err := dotenv.Read("demo.env")
	require.NoError(t, err)
	p, err := load(t, maps.Clone(given), strings.Split(given["COMPOSE_PROFILES"], ",")...)
	require.NoError(t, err)
	return p, given
}

// listensOn is the port of a service that an address of its environment has.
func listensOn(t *testing.T, p *types.Project, service, variable string) int {
	t.Helper()
	s, err := p.GetService(service)
	require.NoError(t, err)
	require.NotNil(t, s.Environment[variable], service)
	_, port, err := net.SplitHostPort(*s.Environment[variable])
	require.NoError(t, err)
	number, err := strconv.Atoi(port)
	require.NoError(t, err)
	return number
}

// TestDemoNeedsNoKey: with demo.env alone every service starts, and the roles and the
// simulator take its settings.
func TestDemoNeedsNoKey(t *testing.T) {
	p, given := demo(t)
	require.Equal(t, map[string]string{"8080": "starter", "8233": "temporal-ui", "8090": "simulator", "9090": "prometheus", "3000": "grafana"}, checkServices(t, p))
	for _, service := range []string{"starter", "simulator", "prometheus", "grafana", "postgres", "temporal"} {
		require.NotNil(t, p.Services[service].HealthCheck, service)
	}
	for _, role := range []config.Role{config.RoleWorker, config.RoleStarter} {
		cfg, err := config.Load(environOf(t, p.Services[string(role)]), nil)
		require.NoError(t, err)
		require.NoError(t, cfg.Validate(role))
	}
	_, err := config.Load(environOf(t, p.Services["simulator"]), nil)
	require.NoError(t, err)
	compose, err := os.ReadFile(composeFile)
	require.NoError(t, err)
	for name := range given {
		if name != "COMPOSE_PROFILES" {
			require.Regexp(t, `\$\{`+name+`\b|(?m)^ +`+name+`:$`, string(compose), "compose does not read it")
		}
	}
}

// TestDemoReachesItsServices: the addresses of demo.env are those of services.
func TestDemoReachesItsServices(t *testing.T) {
	p, given := demo(t)
	for variable, service := range map[string]string{"COACH_PUBLIC_URL": "starter", "TWILIO_BASE_URL": "simulator", "OPENAI_BASE_URL": "simulator"} {
		at, err := url.Parse(given[variable])
		require.NoError(t, err)
		require.Equal(t, service, at.Hostname(), variable)
		require.Equal(t, strconv.Itoa(listensOn(t, p, service, "COACH_HTTP_ADDR")), at.Port(), variable)
	}
	phones, err := url.Parse(given["COACH_PHONES_URL"])
	require.NoError(t, err)
	require.Equal(t, p.Services["simulator"].Ports[0].Published, phones.Port())
	for _, service := range []string{"starter", "simulator"} {
		require.Equal(t, listensOn(t, p, service, "COACH_HTTP_ADDR"), int(p.Services[service].Ports[0].Target))
	}
}

// TestProductionHasNoSimulator: without a profile there is none, and the one that
// watches does not bring it.
func TestProductionHasNoSimulator(t *testing.T) {
	for _, profiles := range [][]string{nil, {"watch"}} {
		p, err := load(t, filled(), profiles...)
		require.NoError(t, err)
		require.NotContains(t, p.Services, "simulator")
		for name, service := range p.Services {
			for variable, value := range service.Environment {
				if value != nil {
					require.NotContains(t, *value, "simulator", "%s of %s", variable, name)
				}
			}
		}
	}
	dockerfile, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	_, last, found := strings.Cut(string(dockerfile), "FROM scratch AS coachline")
	require.True(t, found)
	require.NotContains(t, last, "simulator")
	require.NotContains(t, last, "FROM ")
	for _, service := range demoBuilds(t) {
		require.Contains(t, string(dockerfile), " AS "+service.Build.Target+"\n")
	}
}

func demoBuilds(t *testing.T) []types.ServiceConfig {
	t.Helper()
	p, _ := demo(t)
	var built []types.ServiceConfig
	for _, service := range p.Services {
		if service.Build != nil {
			built = append(built, service)
		}
	}
	require.Len(t, built, 4)
	return built
}

// readYAML reads a file, refusing fields that into does not have.
func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.Open(file)
	require.NoError(t, err)
	defer raw.Close()
	decoder := yaml.NewDecoder(raw)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(into), file)
}

// mountedAt returns what a service has at a path.
func mountedAt(p *types.Project, service, path string) string {
	for _, volume := range p.Services[service].Volumes {
		if volume.Target == path {
			return volume.Source
		}
	}
	return ""
}

// TestPrometheusScrapesTheRoles: each target is a service of the composition and the
// port on which it serves its metrics, and the rules are where they are mounted.
func TestPrometheusScrapesTheRoles(t *testing.T) {
	var settings struct {
		Global struct {
			ScrapeInterval string `yaml:"scrape_interval"`
		}
		RuleFiles     []string `yaml:"rule_files"`
		ScrapeConfigs []struct {
			JobName string `yaml:"job_name"`
			DNS     []struct {
				Names []string
				Type  string
				Port  int
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "prometheus/prometheus.yml", &settings)
	p, _ := demo(t)
	ports := map[string]int{"starter": listensOn(t, p, "starter", "COACH_HTTP_ADDR"), "worker": listensOn(t, p, "worker", "COACH_METRICS_ADDR")}
	var jobs []string
	for _, job := range settings.ScrapeConfigs {
		jobs = append(jobs, job.JobName)
		require.Len(t, job.DNS, 1)
		require.Equal(t, []string{job.JobName}, job.DNS[0].Names)
		require.Equal(t, "A", job.DNS[0].Type)
		require.Equal(t, ports[job.JobName], job.DNS[0].Port, job.JobName)
	}
	slices.Sort(jobs)
	require.Equal(t, []string{"starter", "worker"}, jobs)
	for _, file := range settings.RuleFiles {
		require.True(t, strings.HasSuffix(mountedAt(p, "prometheus", file), "deploy/prometheus/alerts.yml"), file)
	}
	config := regexp.MustCompile(`--config\.file=(\S+)`).FindStringSubmatch(strings.Join(p.Services["prometheus"].Command, " "))
	require.NotNil(t, config)
	require.True(t, strings.HasSuffix(mountedAt(p, "prometheus", config[1]), "deploy/prometheus/prometheus.yml"))

	mod, err := os.ReadFile("../tools/go.mod")
	require.NoError(t, err)
	// Prometheus 3.7.3 is the module's 0.307.3.
	module := regexp.MustCompile(`github\.com/prometheus/prometheus v0\.3(\d\d)\.(\d+)`).FindSubmatch(mod)
	require.NotNil(t, module)
	minor, err := strconv.Atoi(string(module[1]))
	require.NoError(t, err)
	require.Equal(t, "prom/prometheus:v3."+strconv.Itoa(minor)+"."+string(module[2]), p.Services["prometheus"].Image, "the rules are parsed by the version that runs")
}

// TestGrafanaIsProvisioned: its data source is the composition's Prometheus, and its
// dashboards are where the provider looks.
func TestGrafanaIsProvisioned(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		DataSources []struct {
			Name, UID, Type, Access, URL string
			IsDefault                    bool           `yaml:"isDefault"`
			JSONData                     map[string]any `yaml:"jsonData"`
		} `yaml:"datasources"`
	}
	readYAML(t, "grafana/provisioning/datasources/prometheus.yml", &sources)
	require.Len(t, sources.DataSources, 1)
	require.Equal(t, []string{dataSource, "prometheus", "http://prometheus:9090"}, []string{sources.DataSources[0].UID, sources.DataSources[0].Type, sources.DataSources[0].URL})
	var dashboards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type     string
			AllowUIUpdates bool `yaml:"allowUiUpdates"`
			Options        struct{ Path string }
		}
	}
	readYAML(t, "grafana/provisioning/dashboards/coachline.yml", &dashboards)
	p, _ := demo(t)
	path := dashboards.Providers[0].Options.Path
	require.True(t, strings.HasSuffix(mountedAt(p, "grafana", path), "deploy/grafana/dashboards"))
	require.True(t, strings.HasSuffix(mountedAt(p, "grafana", "/etc/grafana/provisioning"), "deploy/grafana/provisioning"))
	first := *p.Services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	require.FileExists(t, "grafana/dashboards"+strings.TrimPrefix(first, path))
	require.Equal(t, uint32(9090), p.Services["prometheus"].Ports[0].Target)
}
