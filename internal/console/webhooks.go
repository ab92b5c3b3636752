package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// webhooksPath is the page of the systems outside that are told of what happens, below
// Path; the API's path is the same behind a slash.
const webhooksPath = "webhooks"

func (c *Console) registerWebhooks(mux *http.ServeMux) {
	c.page(mux, webhooksPath, showWebhooks)
	c.page(mux, webhooksPath+"/{id}", showWebhook)
	c.action(mux, webhooksPath+"/{id}", changeWebhook, showWebhook)
	c.action(mux, webhooksPath+"/{id}/test", testWebhook, showWebhook)
	c.action(mux, webhooksPath+"/{id}/replay", replayWebhook, showWebhook)
	c.action(mux, webhooksPath+"/{id}/remove", removeWebhook, showWebhook)
	c.secretAction(mux, webhooksPath, addWebhook, webhookListPage)
	c.secretAction(mux, webhooksPath+"/{id}/secret", drawWebhookSecret, webhookPage)
}

// secretAction adds a POST route that answers with the page itself, not with a
// redirect: the secret is shown once.
func (c *Console) secretAction(mux *http.ServeMux, path string, do func(*viewer) (models.Webhook, error), show func(*viewer, g.Node) (page, error)) {
	mux.HandleFunc("POST "+Path+path, func(w http.ResponseWriter, r *http.Request) {
		v, ok := c.posted(w, r)
		if !ok {
			return
		}
		hook, err := do(v)
		if err != nil {
			c.showRefused(w, v, err, func(v *viewer) (page, error) { return show(v, nil) })
			return
		}
		c.draw(w, v, http.StatusOK, func(v *viewer) (page, error) {
			return show(v, h.Div(h.Class("notice"), h.Role("status"),
				h.P(g.Text("The receiver checks signatures with this secret. Copy it now; it is not shown again:")), h.P(h.Code(g.Text(hook.NewSecret)))))
		})
	})
}

// showWebhooks lists the systems outside that are told of what happens.
func showWebhooks(v *viewer) (page, error) { return webhookListPage(v, nil) }

func webhookListPage(v *viewer, note g.Node) (page, error) {
	list, err := get[api.WebhookList](v, "/"+webhooksPath, nil)
	if err != nil {
		return page{}, err
	}
	rows := g.Map(list.Webhooks, func(w models.Webhook) g.Node {
		return h.Tr(h.Th(h.Scope("row"), h.A(h.Href(Path+hookPath(w.ID)), g.Text(w.URL))), h.Td(webhookTag(w)), h.Td(instantOf(w.FailingSince, time.UTC)),
			h.Td(g.Text(w.LastError)), h.Td(g.Text(studyOfHook(w))), h.Td(g.Text(eventsOf(w))))
	})
	return page{title: "Webhooks", section: "settings", body: []g.Node{
		h.H1(g.Text("Webhooks")), note,
		h.P(g.Text("Systems outside that are told of what happens, by signed posts. An event holds ids and states, no names, numbers or texts.")),
		g.If(len(list.Webhooks) == 0, h.P(g.Text("No other system is told of anything."))),
		g.If(len(list.Webhooks) > 0, table("Webhooks, oldest first; times are UTC", []string{"Address", "State", "Failing since", "Why", "Study", "Events"}, rows)),
		g.Iff(v.can(auth.WebhookChange), func() g.Node { return addWebhookForm(v) }),
	}}, nil
}

func hookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

// webhookTag says in a word how a webhook does.
func webhookTag(w models.Webhook) g.Node {
	switch {
	case w.State == models.WebhookDisabled:
		return tag("disabled", "")
	case w.FailingSince != nil:
		return tag("failing", "bad")
	}
	return tag("active", "good")
}

func studyOfHook(w models.Webhook) string {
	if w.StudyID == "" {
		return "all"
	}
	return w.StudyID
}

func eventsOf(w models.Webhook) string {
	if len(w.Types) == 0 {
		return "every type"
	}
	return strings.Join(w.Types, ", ")
}

// eventBoxes asks for types of events. name is of the form that they are in.
func eventBoxes(v *viewer, name string, chosen []string) g.Node {
	if v.value("form") == name {
		chosen = v.form["event"]
	}
	return h.FieldSet(h.Legend(g.Text("Types of events; none is every type")), g.Map(models.WebhookEvents(), func(event string) g.Node {
		return h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name("event"), h.Value(event), g.If(slices.Contains(chosen, event), h.Checked())), g.Text(" "+event)))
	}))
}

func addWebhookForm(v *viewer) g.Node {
	const name = "add-webhook"
	return actionForm(v, name, "Add a webhook", webhooksPath,
		h.P(h.Class("quiet"), g.Text("The secret is shown once, on the next page.")),
		field("webhook-url", "Address that events are posted to (https)", h.Input(h.ID("webhook-url"), h.Name("url"), h.Required(), h.MaxLength("2000"),
			h.AutoComplete("off"), h.Value(refillField(v, name, "url", "")))),
		field("webhook-study", "Only events of this study (id); empty is all", h.Input(h.ID("webhook-study"), h.Name("study"), h.MaxLength("40"),
			h.AutoComplete("off"), h.Value(refillField(v, name, "study", "")))),
		eventBoxes(v, name, nil),
	)
}

func addWebhook(v *viewer) (models.Webhook, error) {
	body := api.NewWebhook{URL: strings.TrimSpace(v.formValue("url")), StudyID: strings.TrimSpace(v.formValue("study")), Events: v.request.PostForm["event"]}
	return send[models.Webhook](v, api.Request{Method: http.MethodPost, Path: "/" + webhooksPath, Body: body, Reason: reasonOf(v)})
}

func showWebhook(v *viewer) (page, error) { return webhookPage(v, nil) }

// webhookAPI is the API's path of the webhook on the page.
func webhookAPI(v *viewer) string { return "/" + hookPath(v.path("id")) }

func webhookPage(v *viewer, note g.Node) (page, error) {
	hook, err := get[models.Webhook](v, webhookAPI(v), nil)
	if err != nil {
		return page{}, err
	}
	deliveries, err := deliveriesSection(v)
	if err != nil {
		return page{}, err
	}
	return page{title: "Webhook", section: "settings", body: []g.Node{
		h.P(h.A(h.Href(Path+webhooksPath), g.Text("Webhooks"))),
		h.H1(g.Text("Webhook")), note, webhookStanding(hook),
		h.Dl(h.Class("facts"),
			h.Dt(g.Text("Address")), h.Dd(g.Text(hook.URL)), h.Dt(g.Text("Id")), h.Dd(g.Text(hook.ID)),
			h.Dt(g.Text("Study")), h.Dd(g.Text(studyOfHook(hook))),
			h.Dt(g.Text("Events")), h.Dd(g.Text(eventsOf(hook))),
			h.Dt(g.Text("Added")), h.Dd(instantOf(&hook.CreatedAt, time.UTC), g.Text(" UTC by "+hook.CreatedBy)),
		),
		g.Iff(v.can(auth.WebhookChange), func() g.Node { return webhookForms(v, hook) }),
		deliveries,
	}}, nil
}

// webhookStanding says whether the receiver takes events, and what to do.
func webhookStanding(w models.Webhook) g.Node {
	switch {
	case w.State == models.WebhookDisabled:
		why := ""
		if w.LastError != "" {
			why = " The receiver's last answer: " + w.LastError + "."
		}
		return h.P(g.Text("It is disabled. What happens meanwhile is not kept for it." + why))
	case w.FailingSince != nil:
		return h.P(h.Class("problem"), g.Text("It takes no events since "), instantOf(w.FailingSince, time.UTC),
			g.Text(" UTC: "+w.LastError+". Each is tried again, at least every hour, for 30 days. Mend the receiver, or disable the webhook."))
	}
	return h.P(g.Text("It is active."))
}

func webhookForms(v *viewer, w models.Webhook) g.Node {
	const change, replay = "change-webhook", "replay-webhook"
	path := hookPath(w.ID)
	state := refillField(v, change, "state", string(w.State))
	since := refillField(v, replay, "since", v.now.AddDate(0, 0, -1).Format(untilLayout))
	return g.Group([]g.Node{
		postForm(path+"/test", h.Button(h.Type("submit"), g.Text("Send a test"))),
		actionForm(v, change, "Change the webhook", path,
			hidden("version", strconv.FormatInt(w.Version, 10)),
			eventBoxes(v, change, w.Types),
			h.FieldSet(h.Legend(g.Text("State")), g.Map([]models.WebhookState{models.WebhookActive, models.WebhookDisabled}, func(one models.WebhookState) g.Node {
				return h.Div(h.Label(h.Input(h.Type("radio"), h.Name("state"), h.Value(string(one)), g.If(string(one) == state, h.Checked())), g.Text(" "+string(one))))
			})),
		),
		actionForm(v, "webhook-secret", "Draw a new secret", path+"/secret",
			h.P(h.Class("quiet"), g.Text("It is shown once, on the next page. The old one signs beside it for a day."))),
		actionForm(v, replay, "Deliver again", path+"/replay",
			h.P(h.Class("quiet"), g.Text("Events keep their ids, by which a receiver drops what it has seen. They are kept for 30 days.")),
			field("webhook-since", "What happened since, in UTC", h.Input(h.ID("webhook-since"), h.Name("since"), h.Type("datetime-local"), h.Required(), h.Value(since)))),
		actionForm(v, "webhook-remove", "Remove the webhook", path+"/remove",
			h.P(h.Class("quiet"), g.Text("Also what it was still to be told."))),
	})
}

func changeWebhook(v *viewer) (string, error) {
	// A list without types is sent too: it means every type.
	body := map[string]any{"events": append([]string{}, v.request.PostForm["event"]...), "state": v.formValue("state")}
	_, err := send[models.Webhook](v, api.Request{
		Method: http.MethodPut, Path: webhookAPI(v), Body: body, Reason: reasonOf(v),
		Header: map[string]string{"If-Match": strconv.Quote(v.formValue("version"))},
	})
	return hookPath(v.path("id")), err
}

func drawWebhookSecret(v *viewer) (models.Webhook, error) {
	return send[models.Webhook](v, api.Request{Method: http.MethodPut, Path: webhookAPI(v), Body: api.WebhookChange{RotateSecret: true}, Reason: reasonOf(v)})
}

func testWebhook(v *viewer) (string, error) {
	_, err := send[models.WebhookDelivery](v, api.Request{Method: http.MethodPost, Path: webhookAPI(v) + "/test"})
	return hookPath(v.path("id")), err
}

func replayWebhook(v *viewer) (string, error) {
	since, err := time.Parse(untilLayout, v.formValue("since"))
	if err != nil {
		return "", &refusal{status: http.StatusBadRequest, message: "since: must be a date and a time"}
	}
	done, err := send[api.WebhookReplayed](v, api.Request{Method: http.MethodPost, Path: webhookAPI(v) + "/replay", Body: api.WebhookReplay{Since: since}, Reason: reasonOf(v)})
	v.notice = fmt.Sprintf("%d events will be delivered again", done.Events)
	if done.Events == 1 {
		v.notice = "1 event will be delivered again"
	}
	return hookPath(v.path("id")), err
}

func removeWebhook(v *viewer) (string, error) {
	_, err := send[models.Webhook](v, api.Request{Method: http.MethodDelete, Path: webhookAPI(v), Reason: reasonOf(v)})
	return webhooksPath, err
}

// deliveriesSection is a page of the webhook's events, newest first.
func deliveriesSection(v *viewer) (g.Node, error) {
	query, isOpen := url.Values{}, v.query("open") != ""
	if isOpen {
		query.Set("open", "true")
	}
	if cursor := v.query("cursor"); cursor != "" {
		query.Set("cursor", cursor)
	}
	list, err := get[api.WebhookDeliveryPage](v, webhookAPI(v)+"/deliveries", query)
	if err != nil {
		return nil, err
	}
	address := Path + hookPath(v.path("id"))
	caption, other, label := "Events, newest first; times are UTC", address+"?open=true", "Only events that were not delivered"
	if isOpen {
		caption, other, label = "Events that were not delivered, newest first; times are UTC", address, "All events"
	}
	return h.Section(h.Aria("labelledby", "deliveries"),
		h.H2(h.ID("deliveries"), g.Text("Deliveries")),
		h.P(h.A(h.Href(other), g.Text(label))),
		g.If(len(list.Deliveries) == 0, h.P(g.Text("No events."))),
		g.If(len(list.Deliveries) > 0, table(caption, []string{"When", "Type", "Person", "About", "Status", "Delivered", "Tries", "Answer", "Error", "Next try"},
			g.Map(list.Deliveries, deliveryRow))),
		g.Iff(list.NextCursor != nil, func() g.Node {
			query.Set("cursor", *list.NextCursor)
			return h.P(h.A(h.Href(address+"?"+query.Encode()), h.Rel("next"), g.Text("Older events")))
		}),
	), nil
}

func deliveryRow(d models.WebhookDelivery) g.Node {
	answer := "–"
	if d.Answer != 0 {
		answer = strconv.Itoa(d.Answer)
	}
	return h.Tr(h.Td(instantOf(&d.At, time.UTC)), h.Td(g.Text(d.Type)),
		h.Td(g.If(d.ParticipantID != "", h.A(h.Href(Path+"people/"+url.PathEscape(d.ParticipantID)), g.Text(d.ParticipantID)))),
		h.Td(g.Text(d.ObjectID)), h.Td(g.Text(d.Status)), h.Td(instantOf(d.DeliveredAt, time.UTC)), h.Td(g.Text(strconv.Itoa(d.Attempts))),
		h.Td(g.Text(answer)), h.Td(g.Text(d.Error)), h.Td(instantOf(d.Next, time.UTC)))
}
