package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printTable tells where everything is, and then, on a line of its own that
// scripts wait for, that it is ready.
func printTable(out io.Writer, p plan, took time.Duration) error {
	rows := [][2]string{
		{"Console", p.at.api + "/console/"},
		{"API", p.at.api},
		{"Phones", "http://" + local(p.at.sim) + "/sim/"},
		{"Temporal UI", "http://" + local(p.at.ui)},
		{"Temporal gRPC", local(p.at.temporal)},
		{"Data", p.dataRow()},
		{"Environment", p.folder.file(environFile) + " (for a role or a command in another process)"},
		{"Model", p.modelRow()},
		{"Carrier", p.carrierRow()},
		{"Roles", p.rolesRow()},
	}
	var text strings.Builder
	text.WriteString("\n")
	for _, row := range rows {
		fmt.Fprintf(&text, "  %-14s %s\n", row[0], row[1])
	}
	fmt.Fprintf(&text, "\nready after %s; Ctrl-C stops\n", took.Round(10*time.Millisecond))
	_, err := io.WriteString(out, text.String())
	if err != nil {
		return fmt.Errorf("printing the addresses: %w", err)
	}
	return nil
}

func (p plan) dataRow() string {
	if p.options.ephemeral {
		return p.folder.path + " (removed at the end)"
	}
	return p.folder.path
}

func (p plan) modelRow() string {
	if p.scripted {
		return "script, not a model (set OPENAI_API_KEY or OPENAI_BASE_URL for one)"
	}
	name := p.settings.Model.Name
	if p.settings.Model.BaseURL != "" {
		return name + " at " + p.settings.Model.BaseURL
	}
	return name + " at OpenAI"
}

func (p plan) carrierRow() string {
	if p.simulated {
		return "simulator, number " + p.from + " (set TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN for a real one)"
	}
	if p.settings.Carrier.BaseURL != "" {
		return "configured, at " + p.settings.Carrier.BaseURL
	}
	return "Twilio"
}

func (p plan) rolesRow() string {
	switch {
	case p.options.noWorker && p.options.noStarter:
		return "none here"
	case p.options.noWorker:
		return "starter; the worker is yours to run"
	case p.options.noStarter:
		return "worker; the starter is yours to run"
	default:
		return "worker, starter"
	}
}
