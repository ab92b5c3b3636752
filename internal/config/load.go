package config

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// Defaults are values that stand in for variables which the environment does
// not set, by variable name. A program that brings its own servers, like dev,
// names them here; a production role passes nil.
type Defaults map[string]string

// source says where a value came from.
type source string

const (
	sourceDefault     source = "default"
	sourceEnvironment source = "environment"
	sourceFile        source = "file"
)

// environment is what the process was given, after files and defaults.
type environment struct {
	values  map[string]string
	sources map[string]source
}

// Load reads the settings from environ ("NAME=value" lines, as os.Environ
// gives them). An empty value counts as unset, except that an empty
// COACH_QUIET_HOURS means none. A secret may be given as NAME_FILE, the path of
// a file that holds it. Every problem is reported in one joined error that
// names the variables and never shows a secret. What a role must have set is
// Validate's question.
func Load(environ []string, defaults Defaults) (Config, error) {
	vars := read(environ)
	problems := vars.readFiles()
	vars.fill(defaults)
	problems = append(problems, vars.unknown()...)

	var cfg Config
	bad, errs := cfg.parse(vars)
	problems = append(problems, errs...)
	problems = append(problems, cfg.check(bad)...)
	problems = append(problems, cfg.Model.loadKeys()...)
	problems = append(problems, cfg.Model.loadSecond()...)
	problems = append(problems, cfg.Costs.loadPrices()...)
	problems = append(problems, cfg.Worker.loadHelplines()...)
	problems = append(problems, cfg.Web.loadServers()...)
	temporal, err := loadTemporal(vars)
	if err != nil {
		problems = append(problems, err)
	}
	cfg.Temporal = temporal
	cfg.settings = cfg.table(vars)
	return cfg, errors.Join(problems...)
}

func read(environ []string) environment {
	vars := environment{values: map[string]string{}, sources: map[string]source{}}
	for _, line := range environ {
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" {
			continue
		}
		vars.values[name] = strings.TrimSpace(value)
		vars.sources[name] = sourceEnvironment
	}
	return vars
}

// retired names what took the place of settings that there were.
var retired = map[string]string{
	"COACH_CHECK_IN_CAP":  "A day has one check-in; COACH_CHECK_IN says after which silence",
	"COACH_WORKER_CPU":    "COACH_WORKER_SLOTS=0 takes tasks as long as 80 % of the processors suffice",
	"COACH_WORKER_MEMORY": "COACH_WORKER_SLOTS=0 takes tasks as long as 80 % of the memory suffices",
}

// unknown refuses names with our prefix that nothing reads: a misspelt setting
// would otherwise be a default in disguise.
func (e environment) unknown() []error {
	known := ownNames()
	var problems []error
	for name := range e.values {
		if instead, ok := retired[name]; ok {
			problems = append(problems, fmt.Errorf("%s: no setting any longer: remove it. %s", name, instead))
			continue
		}
		if strings.HasPrefix(name, ownPrefix) && !slices.Contains(known, name) {
			problem := name + ": not a setting of this program"
			if meant := nearest(name, known); meant != "" {
				problem += "; did you mean " + meant + "?"
			}
			problems = append(problems, errors.New(problem))
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return problems
}

// readFiles takes secrets from the files that NAME_FILE variables name.
func (e environment) readFiles() []error {
	var problems []error
	for _, name := range secretNames() {
		path := e.values[name+fileSuffix]
		if path == "" {
			continue
		}
		if e.values[name] != "" {
			problems = append(problems, fmt.Errorf("%s: set either %s or %s%s, not both", name, name, name, fileSuffix))
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s%s: %w", name, fileSuffix, err))
			continue
		}
		value := strings.TrimSpace(string(content))
		if value == "" {
			problems = append(problems, fmt.Errorf("%s%s: %s is empty", name, fileSuffix, path))
			continue
		}
		e.values[name], e.sources[name] = value, sourceFile
	}
	return problems
}

// fill lets defaults stand in. A default sender steps aside when the
// environment names the other kind of sender, because only one may be set.
func (e environment) fill(defaults Defaults) {
	rivals := map[string]string{from: messagingService, messagingService: from}
	for name, value := range defaults {
		if _, set := e.values[name]; set && (e.values[name] != "" || name == quietHours) {
			continue
		}
		if rival := rivals[name]; rival != "" && e.values[rival] != "" && e.sources[rival] != sourceDefault {
			continue
		}
		e.values[name], e.sources[name] = value, sourceDefault
	}
}

// parse fills the tagged fields. bad holds the names whose values could not be
// read, so that later checks leave them alone.
func (c *Config) parse(vars environment) (bad map[string]bool, problems []error) {
	bad = map[string]bool{}
	err := env.ParseWithOptions(c, env.Options{Environment: vars.values})
	var all env.AggregateError
	if err != nil && !errors.As(err, &all) {
		return bad, []error{fmt.Errorf("reading the environment: %w", err)}
	}
	for _, one := range all.Errors {
		var field env.ParseError
		if !errors.As(one, &field) {
			problems = append(problems, fmt.Errorf("reading the environment: %w", one))
			continue
		}
		name := variableOf(field)
		bad[name] = true
		problems = append(problems, refuse(name, vars.values[name], expectedForm(field.Type)))
	}
	if value, set := vars.values[quietHours]; set && value == "" {
		c.Coaching.QuietHours = ""
	}
	if c.Model.Small == "" {
		c.Model.Small = c.Model.Name
	}
	c.HTTP.PublicURL = strings.TrimRight(c.HTTP.PublicURL, "/")
	c.Coaching.DefaultRegion = strings.ToUpper(c.Coaching.DefaultRegion)
	return bad, problems
}

func variableOf(failed env.ParseError) string {
	for _, v := range variables() {
		if v.field == failed.Name && v.kind == failed.Type {
			return v.name
		}
	}
	return failed.Name
}

func expectedForm(kind reflect.Type) string {
	switch {
	case kind == reflect.TypeFor[time.Duration]():
		return "a duration such as 90s, 10m or 5h"
	case kind == reflect.TypeFor[[]netip.AddrPort]():
		return "IP addresses with ports such as 127.0.0.1:8099, separated by commas"
	case kind == reflect.TypeFor[[]netip.Prefix]():
		return "networks such as 10.0.0.0/8 or 10.0.0.5/32, separated by commas"
	case kind.Kind() == reflect.Float64:
		return "a number such as 1 or 0.5"
	default:
		return "a whole number"
	}
}

// refuse names the variable, the value and what is allowed; not for secrets.
func refuse(name, value, allowed string) error {
	return fmt.Errorf("%s: %q is not allowed; want %s", name, value, allowed)
}
