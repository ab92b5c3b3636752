package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"coachline/eval/cases"
	"coachline/internal/config"
	"coachline/internal/sim/twilio"
	"coachline/models"
)

// builtIn names the embedded prompts.
const builtIn = "built-in"

// scriptName is the scripted model's, wherever it is judged.
const scriptName = "script"

// environment is what an evaluation stands on: the settings, and the scripted model
// where no other one is set.
type environment struct {
	settings config.Config
	scripted bool
	stop     func()
}

// prepare reads the settings. Without a key and without an address the scripted
// model answers, over HTTP like any other.
func prepare(ctx context.Context, environ []string) (environment, error) {
	g := environment{stop: func() {}, scripted: !slices.ContainsFunc(environ, namesModel)}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return g, fmt.Errorf("making a key: %w", err)
	}
	defaults := config.Defaults{"COACH_PAYLOAD_KEYS": "eval:" + base64.StdEncoding.EncodeToString(key)}
	if g.scripted {
		base, stop, err := serveScript(ctx)
		if err != nil {
			return g, err
		}
		g.stop = stop
		defaults["OPENAI_API_KEY"], defaults["OPENAI_BASE_URL"], defaults["COACH_MODEL"] = scriptName, base+"/v1", scriptName
	}
	var err error
	if g.settings, err = config.Load(environ, defaults); err != nil {
		g.stop()
		return g, fmt.Errorf("reading the settings: %w", err)
	}
	return g, nil
}

// namesModel: a variable that says which model to call, or with what.
func namesModel(line string) bool {
	name, value, _ := strings.Cut(line, "=")
	return strings.TrimSpace(value) != "" && slices.Contains([]string{
		"OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_API_KEYS", "OPENAI_API_KEYS_FILE", "COACH_KEYS_FILE", "OPENAI_BASE_URL",
	}, name)
}

const headerLimit = 10 * time.Second

// serveScript serves the scripted model on a free port of this machine.
func serveScript(ctx context.Context) (base string, stop func(), err error) {
	script, err := twilio.New(twilio.Config{AccountSID: "ACe0000000000000000000000000000000", AuthToken: "eval", From: "+15005550006"})
	if err != nil {
		return "", nil, fmt.Errorf("building the scripted model: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("opening an address: %w", err), script.Close())
	}
	server := &http.Server{Handler: script.Handler(), ReadHeaderTimeout: headerLimit}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // Ends with Close.
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close()
		<-done
		_ = script.Close() // There is nothing left to write.
	}, nil
}

// columns are the models, prompts and protocols of the options, each with each.
func (g environment) columns(o options) []Setup {
	if len(o.models) == 0 {
		o.models = []string{g.settings.Model.Name}
	}
	if len(o.prompts) == 0 {
		o.prompts = []string{g.settings.Worker.PromptsDir}
	}
	if len(o.protocols) == 0 {
		o.protocols = []models.Protocol{""}
	}
	small := o.small
	if small == "" {
		small = g.settings.Model.Small
	}
	var out []Setup
	for _, model := range o.models {
		for _, dir := range o.prompts {
			for _, protocol := range o.protocols {
				if dir == builtIn {
					dir = ""
				}
				column := Setup{Model: model, Small: small, PromptsDir: dir, Protocol: protocol, Scripted: g.scripted}
				if small == g.settings.Model.Name && o.small == "" {
					column.Small = "" // Not set: the stages ask the model that is judged.
				}
				out = append(out, column)
			}
		}
	}
	return out
}

// nameOf tells columns apart, in this run and in the next one.
func nameOf(c Setup) string {
	name := c.Model
	if c.Protocol != "" {
		name += "/" + string(c.Protocol)
	}
	if c.PromptsDir != "" {
		name += "@" + filepath.Base(c.PromptsDir)
	}
	return name
}

type evaluation struct {
	columns  []Setup
	settings config.Config
	cases    []cases.Case
	parallel int
	// repeat is how often each case is played; 0 is once.
	repeat int
}

// evaluate plays every case in every column. What cannot be played is in the
// report; an error is a setting that is wrong, or that ctx ended.
func evaluate(ctx context.Context, e evaluation) (Run, error) {
	out := Run{StartedAt: time.Now().UTC(), Currency: e.settings.Costs.Prices.Currency()}
	for _, one := range e.cases {
		out.Rows = append(out.Rows, Row{Case: one.Name, About: one.About})
	}
	for _, column := range e.columns {
		driver, err := New(Config{Column: column, Settings: e.settings})
		if err != nil {
			return out, fmt.Errorf("column %s: %w", nameOf(column), err)
		}
		out.Columns = append(out.Columns, Column{Name: nameOf(column), Model: column.Model, Prompts: driver.PromptVersion()})
		cells := make([]Cell, len(e.cases))
		var group errgroup.Group
		group.SetLimit(e.parallel)
		for i, one := range e.cases {
			group.Go(func() error { cells[i] = e.play(ctx, driver, one); return ctx.Err() })
		}
		if err := group.Wait(); err != nil {
			return out, fmt.Errorf("playing the cases: %w", err)
		}
		for i := range out.Rows {
			out.Rows[i].Cells = append(out.Rows[i].Cells, cells[i])
		}
	}
	return out, nil
}

// play is one case in one column, as often as is asked for. The script speaks the
// protocols of a case only; a model is asked everything.
func (e evaluation) play(ctx context.Context, driver *Driver, c cases.Case) Cell {
	column := driver.column
	native := column.Protocol == "" || column.Protocol == models.ProtocolNative
	if column.Scripted && !native && !slices.Contains(c.Protocols, column.Protocol) {
		return nil
	}
	cell := make(Cell, max(e.repeat, 1))
	for i := range cell {
		steps, err := driver.Play(ctx, c)
		if err != nil {
			cell[i].Error = err.Error()
		}
		for number, done := range steps {
			cell[i].Add(number+1, done, Grade(c.Steps[number], done, column.Scripted))
		}
	}
	return cell
}
