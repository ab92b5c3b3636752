package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
	"coachline/models/wire"
)

func participantCommand(p *program) *cobra.Command {
	return groupCommand("participant", "Enrol, look at and change participants", append(recordVerbs(p),
		participantAdd(p), participantList(p), participantUpdate(p),
		participantShow(p),
		participantRemove(p),
		participantPause(p), participantResume(p),
		callCommand(p, "waiting ID", "Print messages that came while the participant was paused", func(args []string) request { return request{participant: args[0], path: "/waiting"} }, renderWaiting),
		participantMode(p), participantAttend(p), participantErase(p),
	)...)
}

func participantShow(p *program) *cobra.Command {
	return verb("show ID", "Print a participant", func(c *cobra.Command, args []string) error {
		return printParticipant(c.Context(), p, args[0])
	})
}

func participantRemove(p *program) *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "remove ID", Short: "Remove a participant: one closing notice, then nothing more", Args: exactArgs(1)}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask for the id again")
	c.RunE = func(c *cobra.Command, args []string) error {
		id, err := p.client.findParticipant(c.Context(), args[0])
		if err != nil {
			return err
		}
		if !yes {
			if err := confirmID(p, args[0]); err != nil {
				return err
			}
		}
		got, err := p.client.do(c.Context(), request{method: http.MethodDelete, participant: id})
		if err != nil {
			return err
		}
		return showResult(p, got, func(w io.Writer, _ json.RawMessage) error {
			_, err := fmt.Fprintln(w, got.message)
			return err
		})
	}
	return c
}

func participantAdd(p *program) *cobra.Command {
	var who api.NewParticipant
	var zone, channel, method string
	var strata []string
	var consent api.Consenting
	c := &cobra.Command{Use: "add --phone NUMBER", Short: "Enrol a participant", Args: exactArgs(0)}
	flags := c.Flags()
	flags.StringVar(&who.Phone, "phone", "", "phone number")
	for field, text := range who.All() {
		flags.StringVar(text, flagOf(field), "", field.Usage())
	}
	flags.StringVar(&zone, "timezone", "", "IANA time zone (default the programme's)")
	flags.StringVar(&who.Locale, "locale", "", "language and region, such as en-GB")
	flags.BoolVar(&who.Tester, "tester", false, "a member of the team")
	flags.BoolVar(&who.Debug, "debug", false, "send debug messages; testers only")
	flags.BoolVar(&who.Signup, "signup", false, "the person has just signed up themselves: greet at once, also in quiet hours")
	flags.StringVar(&channel, "channel", "", "sms or terminal")
	flags.StringVar(&who.Study, "study", "", "id of a study that recruits (default the study default)")
	flags.StringArrayVar(&strata, "stratum", nil, "NAME=LEVEL of a stratum of the study that is no field of the person; may be repeated")
	flags.IntVar(&consent.Version, "consent-version", 0, "version of the study's consent text that the person agreed to")
	flags.StringVar(&consent.Locale, "consent-locale", "", "language of that text")
	flags.StringVar(&method, "consent-method", string(models.MethodOperator), "form, web or operator: how they agreed")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if who.Phone == "" {
			return usageError{errors.New("--phone is needed")}
		}
		if flags.Changed("timezone") {
			who.Timezone = &zone
		}
		var err error
		if who.Strata, err = parseStrata(strata); err != nil {
			return err
		}
		who.Channel = wire.Channel(channel)
		if consent.Version > 0 || consent.Locale != "" {
			consent.Method, who.Consent = models.ConsentMethod(method), &consent
		}
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: participantsPath, body: who}, renderParticipant)
	}
	return c
}

// participantPause pauses until an instant, or until the participant is resumed.
func participantPause(p *program) *cobra.Command {
	var until string
	c := &cobra.Command{
		Use: "pause ID", Short: "Hold everything that would be sent", Args: exactArgs(1),
		Long: "No prompts, reminders or replies go out. What the person writes waits, and is answered when the pause ends if it is of that day.\n" +
			"Again with another --until moves the end.",
	}
	c.Flags().StringVar(&until, "until", "", "when the person is resumed by themselves: as of coachline hold, at most 366 days away (default until resumed by hand)")
	c.RunE = func(c *cobra.Command, args []string) error {
		var end *time.Time
		if until != "" {
			instant, err := parseInstant(until, time.Now())
			if err != nil {
				return usageError{fmt.Errorf("--until: %w", err)}
			}
			end = &instant
		}
		paused := wire.StatusPaused
		return changeParticipant(c.Context(), p, args[0], api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{Status: &paused, PausedUntil: end}}, 0)
	}
	return c
}

// participantResume leaves it to the server what becomes of waiting messages, or takes the
// operator's choice.
func participantResume(p *program) *cobra.Command {
	var waiting string
	c := &cobra.Command{Use: "resume ID", Short: "Go on with the next slot, and answer what came meanwhile", Args: exactArgs(1)}
	c.Flags().StringVar(&waiting, "waiting", "", "answer or read: what becomes of messages that came while the participant was paused\n"+
		"(default answer if the newest is of today in the participant's zone, read otherwise)")
	c.RunE = func(c *cobra.Command, args []string) error {
		action := models.WaitingAction(waiting)
		if waiting != "" && action != models.WaitingAnswer && action != models.WaitingRead {
			return usageError{errors.New("--waiting must be answer or read")}
		}
		active := wire.StatusActive
		return changeParticipant(c.Context(), p, args[0], api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{Status: &active}, Waiting: action}, 0)
	}
	return c
}

func participantList(p *program) *cobra.Command {
	var status, attention string
	var waiting bool
	c := &cobra.Command{Use: "list", Short: "List participants", Args: exactArgs(0)}
	c.Flags().StringVar(&status, "status", "", "only those who are active, paused, completed, withdrawn or opted_out")
	c.Flags().BoolVar(&waiting, "waiting", false, "only those with messages that came while they were paused")
	c.Flags().StringVar(&attention, "attention", "", "only those at whom an operator should look for this: "+attentionKinds())
	c.RunE = func(c *cobra.Command, _ []string) error {
		return listAndShow(c.Context(), p, participantListing, filterParticipants(models.ParticipantQuery{Status: wire.Status(status), Attention: wire.Attention(attention), Waiting: waiting}), renderParticipants)
	}
	return c
}

func participantUpdate(p *program) *cobra.Command {
	c := &cobra.Command{Use: "update ID", Short: "Change some fields of a participant", Args: exactArgs(1)}
	flags := c.Flags()
	for name, usage := range map[string]string{
		"phone":    "new phone number; conversation, schedules and consent stay",
		"timezone": "IANA time zone", "locale": "language and region", "status": "active, paused, completed, withdrawn or opted_out",
	} {
		flags.String(name, "", usage)
	}
	var texts models.PersonTexts[string]
	for field := range texts.All() {
		flags.String(flagOf(field), "", field.Usage())
	}
	flags.Bool("tester", false, "a member of the team")
	flags.Bool("debug", false, "send debug messages; testers only")
	version := flags.Int64("if-version", 0, "refuse unless this is the participant's version")
	c.RunE = func(c *cobra.Command, args []string) error {
		change := changeOf(c)
		if change == (api.ParticipantChange{}) {
			return usageError{errors.New("nothing to change was given")}
		}
		return changeParticipant(c.Context(), p, args[0], change, *version)
	}
	return c
}

// flagOf is the flag of a person's field.
func flagOf(field models.PersonField) string { return strings.ReplaceAll(field.Name, "_", "-") }

// changeOf takes the flags that were given, also those given as empty.
func changeOf(c *cobra.Command) api.ParticipantChange {
	flags := c.Flags()
	text := func(name string) *string {
		if !flags.Changed(name) {
			return nil
		}
		value := flags.Lookup(name).Value.String()
		return &value
	}
	flag := func(name string) *bool {
		if !flags.Changed(name) {
			return nil
		}
		value := flags.Lookup(name).Value.String() == "true"
		return &value
	}
	change := api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{
		Phone: text("phone"), Timezone: text("timezone"), Locale: text("locale"), Status: (*wire.Status)(text("status")),
		Tester: flag("tester"), Debug: flag("debug"),
	}}
	for field, value := range change.All() {
		*value = text(flagOf(field))
	}
	return change
}

func participantMode(p *program) *cobra.Command {
	var reason string
	c := &cobra.Command{Use: "mode ID INTAKE|FEEDBACK", Short: "Force a mode, applied between turns", Args: exactArgs(2)}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	c.RunE = func(c *cobra.Command, args []string) error {
		body := api.ModeChange{Target: wire.Mode(args[1]), Reason: reason}
		return callAndShow(c.Context(), p, request{method: http.MethodPost, participant: args[0], path: "/mode", body: body}, renderMode)
	}
	return c
}

const participantsPath = "/conversation/participants"

func participantPath(id string) string { return participantsPath + "/" + url.PathEscape(id) }

var participantListing = listing{participantsPath, "participants"}

func printParticipant(ctx context.Context, p *program, id string) error {
	return callAndShow(ctx, p, request{participant: id}, renderParticipant)
}

// filterParticipants asks for the participants of a filter; empty fields select all.
func filterParticipants(f models.ParticipantQuery) url.Values {
	query := url.Values{}
	if f.Status != "" {
		query.Set("status", string(f.Status))
	}
	if f.Attention != "" {
		query.Set("attention", string(f.Attention))
	}
	if f.Waiting {
		query.Set("waiting", "true")
	}
	if f.TakenOver {
		query.Set("taken_over", "true")
	}
	return query
}

func listParticipants(ctx context.Context, client *Client) ([]api.Participant, error) {
	return listItems[api.Participant](ctx, client, participantListing, url.Values{})
}

// changeParticipant changes some fields. With a version it is refused when the
// participant has changed since.
func changeParticipant(ctx context.Context, p *program, id string, change api.ParticipantChange, version int64) error {
	r := request{method: http.MethodPut, participant: id, body: change}
	if version > 0 {
		r.header = map[string]string{"If-Match": strconv.Quote(strconv.FormatInt(version, 10))}
	}
	return callAndShow(ctx, p, r, renderParticipant)
}

func renderParticipant(w io.Writer, p api.Participant) error {
	zone, clock := p.Timezone, loadZone(p.Timezone)
	if p.ZoneAssumed {
		zone += " (assumed)"
	}
	unreachable := ""
	if p.UnreachableAt != nil {
		unreachable = "since " + formatInstantIn(*p.UnreachableAt, clock) + " (" + p.UnreachableCode + ")"
	}
	greeting := ""
	if p.GreetingAt != nil {
		greeting = formatInstantIn(*p.GreetingAt, clock)
	}
	paused := ""
	if p.PausedUntil != nil {
		paused = formatInstantIn(*p.PausedUntil, clock)
	}
	attention := ""
	if p.AttentionAt != nil {
		attention = string(p.Attention) + " since " + formatInstantIn(*p.AttentionAt, clock)
	}
	rows := [][]string{
		{"id", p.ID}, {"phone", p.Phone}}
	texts := models.PersonTexts[string](p.PersonShown)
	for field, text := range texts.All() {
		rows = append(rows, []string{strings.ToLower(field.Label), *text})
	}
	rows = append(rows, [][]string{
		{"timezone", zone}, {"locale", p.Locale}, {"channel", string(p.Channel)},
		{"status", string(p.Status)}, {"paused until", paused}, {"attention", attention}, {"unreachable", unreachable}, {"mode", string(p.Mode)}, {"tester", formatBool(p.Tester)}, {"debug", formatBool(p.Debug)},
		{"enrolled", formatInstantIn(p.EnrolledAt, clock)}, {"greeting", greeting}, {"version", fmt.Sprint(p.Version)},
	}...)
	return writeTable(w, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

func renderParticipants(w io.Writer, page api.ParticipantPage) error {
	if len(page.Participants) == 0 {
		_, err := fmt.Fprintln(w, "No participants.")
		return err
	}
	rows := [][]string{{"ID", "STATUS", "MODE", "NAME", "PHONE", "TIMEZONE", "ENROLLED"}}
	for _, p := range page.Participants {
		rows = append(rows, []string{p.ID, string(p.Status), string(p.Mode), p.Name, p.Phone, p.Timezone, formatInstant(p.EnrolledAt)})
	}
	return writeTable(w, rows)
}
