package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
)

// dataSource is the uid of Prometheus in the files of Grafana.
const dataSource = "coachline"

// knownMetrics are the series that the roles have: kinds and labels by name. Labels
// are nil where they are not held.
type knownMetrics map[string]knownMetric

type knownMetric struct{ labels []string }

// add adds the series of a metric of a kind.
func (k knownMetrics) add(name, kind string, labels []string) {
	if kind != "histogram" {
		k[name] = knownMetric{labels}
		return
	}
	k[name+"_sum"], k[name+"_count"] = knownMetric{labels}, knownMetric{labels}
	if labels != nil {
		labels = slices.Concat(labels, []string{"le"})
	}
	k[name+"_bucket"] = knownMetric{labels}
}

// readMetrics reads our metrics from the golden file of package metrics, those of the
// Temporal SDK from its constants, and those of Go and the process from a registry.
func readMetrics(t *testing.T) knownMetrics {
	t.Helper()
	known := knownMetrics{"up": {}}
	golden, err := os.ReadFile("../internal/metrics/testdata/names.golden")
	require.NoError(t, err)
	for line := range strings.Lines(string(golden)) {
		fields := strings.Fields(line)
		names := []string{}
		if len(fields) > 2 {
			names = strings.Split(fields[2], ",")
		}
		known.add(fields[0], fields[1], names)
	}
	addTemporal(t, known)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		known.add(family.GetName(), "gauge", nil)
	}
	require.Greater(t, len(known), 100)
	return known
}

// addTemporal adds the SDK's metrics under the names that its exporter gives them.
func addTemporal(t *testing.T, known knownMetrics) {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/sdk").Output()
	require.NoError(t, err)
	file := filepath.Join(strings.TrimSpace(string(folder)), "internal/common/metrics/constants.go")
	tree, err := goparser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	gauges := []string{"worker_task_slots_available", "worker_task_slots_used", "num_pollers", "sticky_cache_size", "workflow_active_thread_count"}
	ast.Inspect(tree, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		name, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		switch name := "temporal_" + name; {
		case slices.Contains(gauges, strings.TrimPrefix(name, "temporal_")):
			known.add(name, "gauge", nil)
		case strings.Contains(name, "_latency"):
			known.add(name+"_seconds", "histogram", nil)
		default:
			known.add(strings.TrimSuffix(name, "_total")+"_total", "counter", nil)
		}
		return true
	})
	for _, suffix := range []string{"failure", "attempt"} { // the SDK joins these
		known.add("temporal_request_"+suffix+"_total", "counter", nil)
	}
}

// scraped are the labels that Prometheus adds.
var scraped = []string{"job", "instance", "__name__"}

// check parses an expression and refuses metrics and labels that no role has.
func (k knownMetrics) check(expression string) error {
	parsed, err := parser.ParseExpr(strings.ReplaceAll(expression, "$__rate_interval", "5m"))
	if err != nil {
		return fmt.Errorf("%s: %w", expression, err)
	}
	var allowed []string
	var problems []error
	anyLabel := false
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			metric, has := k[selector.Name]
			if !has {
				problems = append(problems, fmt.Errorf("%s: no role has the metric %q", expression, selector.Name))
			}
			allowed, anyLabel = append(allowed, metric.labels...), anyLabel || metric.labels == nil
			problems = append(problems, checkLabels(selector.LabelMatchers, metric.labels, expression))
		}
		return nil
	})
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if sum, ok := node.(*parser.AggregateExpr); ok && !anyLabel {
			for _, name := range sum.Grouping {
				if !slices.Contains(slices.Concat(allowed, scraped), name) {
					problems = append(problems, fmt.Errorf("%s: its metrics have no label %q", expression, name))
				}
			}
		}
		return nil
	})
	return errors.Join(problems...)
}

func checkLabels(matchers []*labels.Matcher, names []string, expression string) error {
	for _, matcher := range matchers {
		if names != nil && !slices.Contains(slices.Concat(names, scraped), matcher.Name) {
			return fmt.Errorf("%s: its metric has no label %q", expression, matcher.Name)
		}
	}
	return nil
}

// TestExpressionsAreChecked: what is wrong with an expression is found.
func TestExpressionsAreChecked(t *testing.T) {
	known := readMetrics(t)
	require.NoError(t, known.check(`sum by (kind) (rate(coachline_turns_total{outcome="ok"}[$__rate_interval]))`))
	for expression, problem := range map[string]string{
		`sum(rate(coachline_turns_totl[5m]))`:               `no role has the metric "coachline_turns_totl"`,
		`rate(coachline_turn_duration_seconds[5m])`:         "no role has the metric",
		`coachline_turns_total_bucket`:                      "no role has the metric",
		`temporal_activity_schedule_to_start_latency_total`: "no role has the metric",
		`coachline_turns_total{type="reply"}`:               `no label "type"`,
		`sum by (study) (coachline_turns_total)`:            `no label "study"`,
		`sum(coachline_turns_total`:                         "unclosed left parenthesis",
	} {
		require.ErrorContains(t, known.check(expression), problem)
	}
}

// TestAlertRules parses the rules as Prometheus does. Each has a severity, says what is
// the matter and what to do, and names a section of a page.
func TestAlertRules(t *testing.T) {
	content, err := os.ReadFile("prometheus/alerts.yml")
	require.NoError(t, err)
	groups, problems := rulefmt.Parse(content, false, model.LegacyValidation)
	require.Empty(t, problems)
	operations, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	known := readMetrics(t)
	sections := map[string]bool{}
	for _, title := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(operations), -1) {
		plain := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(title[1]), "")
		sections["docs/operations.md#"+strings.ReplaceAll(plain, " ", "-")] = true
	}
	for _, rule := range groups.Groups[0].Rules {
		require.NoError(t, known.check(rule.Expr), rule.Alert)
		require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		require.NotEmpty(t, rule.Annotations["description"], rule.Alert)
		require.True(t, sections[rule.Annotations["runbook"]], "%s: %s", rule.Alert, rule.Annotations["runbook"])
	}
	require.Greater(t, len(groups.Groups[0].Rules), 20)
}

// dashboard is what is checked of one of Grafana's.
type dashboard struct {
	UID           string
	Title         string
	SchemaVersion int
	Panels        []struct {
		ID         int
		Type       string
		Title      string
		GridPos    struct{ H, W, X, Y int }
		DataSource *struct{ Type, UID string }
		Targets    []struct {
			RefID        string
			Expr         string
			LegendFormat string
			DataSource   struct{ Type, UID string }
		}
	}
}

// TestDashboards: each panel asks for metrics that the roles have, from the data
// source that is provisioned, and no panel covers another.
func TestDashboards(t *testing.T) {
	files, err := filepath.Glob("grafana/dashboards/*.json")
	require.NoError(t, err)
	require.Len(t, files, 2)
	known := readMetrics(t)
	uids := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var d dashboard
		require.NoError(t, json.Unmarshal(raw, &d), file)
		require.NotEmpty(t, d.Title)
		require.Positive(t, d.SchemaVersion)
		require.Regexp(t, `^[a-z-]{1,40}$`, d.UID)
		require.False(t, uids[d.UID])
		uids[d.UID] = true
		ids, cells := map[int]bool{}, map[[2]int]string{}
		for _, panel := range d.Panels {
			require.False(t, ids[panel.ID], "%s: %s", file, panel.Title)
			ids[panel.ID] = true
			at := panel.GridPos
			require.LessOrEqual(t, at.X+at.W, 24, panel.Title)
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					require.Empty(t, cells[[2]int{x, y}], "%s: %s covers another panel", file, panel.Title)
					cells[[2]int{x, y}] = panel.Title
				}
			}
			if panel.Type == "row" {
				require.Empty(t, panel.Targets)
				continue
			}
			require.NotEmpty(t, panel.Targets, panel.Title)
			require.Equal(t, dataSource, panel.DataSource.UID)
			for i, target := range panel.Targets {
				require.Equal(t, string(rune('A'+i)), target.RefID, panel.Title)
				require.Equal(t, dataSource, target.DataSource.UID)
				require.NotEmpty(t, target.LegendFormat)
				require.NoError(t, known.check(target.Expr), "%s: %s", file, panel.Title)
			}
		}
	}
}

// TestOperationsPageNamesMetrics: each metric that the page lists is there, and each
// of ours is listed.
func TestOperationsPageNamesMetrics(t *testing.T) {
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(page), "\n## Metrics\n")
	require.True(t, found)
	listed, _, _ := strings.Cut(after, "\n## ")
	golden, err := os.ReadFile("../internal/metrics/testdata/names.golden")
	require.NoError(t, err)
	for line := range strings.Lines(string(golden)) {
		name := strings.TrimPrefix(strings.Fields(line)[0], "coachline_")
		require.Regexp(t, "`"+name+"[`{]", listed)
	}
}
