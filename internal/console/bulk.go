package console

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
	"coachline/models/wire"
)

// maxBulk is how many people one action is for at most: a page of the API.
const maxBulk = 200

// keyBulk holds in the session how the viewer's last action for several people went.
const keyBulk = "bulk"

// bulkAction is what can be done for several people at once. It goes through the
// API for each of them.
type bulkAction struct {
	name, label, effect string
	needs               auth.Permission
	call                func(v *viewer, id string) api.Request
}

var bulkActions = []bulkAction{
	{"pause", "Pause", "No prompts go out, and texts wait for a person, until coaching is resumed.", auth.ParticipantChange, callStatus(wire.StatusPaused)},
	{"resume", "Resume", "Coaching goes on. Texts that came meanwhile are answered if the newest is of today, and marked as read otherwise.", auth.ParticipantChange, callStatus(wire.StatusActive)},
	{"send", "Send a message", "Each of them gets this text at once.", auth.MessageSend, callMessage},
}

func callStatus(status wire.Status) func(*viewer, string) api.Request {
	return func(_ *viewer, id string) api.Request {
		return api.Request{Method: http.MethodPut, Path: participantsPath + "/" + url.PathEscape(id), Body: api.ParticipantChange{ParticipantPatch: models.ParticipantPatch{Status: &status}}}
	}
}

func callMessage(v *viewer, id string) api.Request {
	return api.Request{
		Method: http.MethodPost, Path: participantsPath + "/" + url.PathEscape(id) + "/messages",
		Body: map[string]string{"body": v.request.PostFormValue("body")},
	}
}

func bulkActionOf(v *viewer) (bulkAction, error) {
	name := v.request.FormValue("do")
	i := slices.IndexFunc(bulkActions, func(a bulkAction) bool { return a.name == name })
	if i < 0 {
		return bulkAction{}, errNoPage
	}
	return bulkActions[i], nil
}

// chosenPeople are those whom the form names, or whom its filters list. more
// reports that the filters list more than one action is for.
func chosenPeople(v *viewer) (people []api.Person, more bool, err error) {
	if v.request.FormValue("all") != "" {
		query := filtersOf(v)
		query.Set("limit", strconv.Itoa(maxBulk))
		list, err := get[api.PeoplePage](v, "/people", query)
		return list.People, list.NextCursor != nil, err
	}
	ids := v.request.Form["id"]
	for _, id := range ids[:min(len(ids), maxBulk)] {
		p, err := get[api.Participant](v, participantsPath+"/"+url.PathEscape(id), nil)
		if isRefusal(err, http.StatusNotFound) {
			continue // removed since the list was shown
		}
		if err != nil {
			return nil, false, err
		}
		people = append(people, api.Person{ID: p.ID, Name: p.Name, Phone: p.Phone, Status: p.Status, Attention: p.Attention})
	}
	return people, len(ids) > maxBulk, nil
}

// showBulk shows who is meant, what will be done and asks for the reason.
func showBulk(v *viewer) (page, error) {
	action, err := bulkActionOf(v)
	if err != nil {
		return page{}, err
	}
	people, more, err := chosenPeople(v)
	if err != nil {
		return page{}, err
	}
	title := action.label + ": " + peopleCount(len(people))
	if len(people) == 0 {
		return page{title: title, section: "people", body: []g.Node{
			h.H1(g.Text(title)), h.P(g.Text("Nobody was chosen.")), h.P(h.A(h.Href(Path+"people"), g.Text("Back to people"))),
		}}, nil
	}
	return page{title: title, section: "people", body: []g.Node{
		h.H1(g.Text(title)),
		h.P(g.Text(action.effect)),
		g.If(more, h.P(h.Class("problem"), g.Text(fmt.Sprintf("There are more: these are the first %d. The others are left as they are.", maxBulk)))),
		bulkForm(v, action, people),
		h.H2(g.Text("Who is meant")),
		h.Ul(g.Map(people, func(p api.Person) g.Node {
			return h.Li(h.A(h.Href(Path+"people/"+p.ID), bdi(personName(p))), g.Text(" "+p.Phone+" "),
				h.Span(h.Class("tag"), g.Text(labelOf(statusOptions(), string(p.Status)))), g.Text(" "), attentionTag(p.Attention))
		})),
	}}, nil
}

func bulkForm(v *viewer, action bulkAction, people []api.Person) g.Node {
	key := v.value("key")
	if key == "" {
		key = rand.Text()
	}
	return postForm("people/bulk", h.Class("stack"),
		hidden("do", action.name), hidden("key", key),
		g.Map(people, func(p api.Person) g.Node { return hidden("id", p.ID) }),
		g.If(action.name == "send", field("body", "Message", h.Textarea(h.ID("body"), h.Name("body"), h.Required(), h.MaxLength("1600"), g.Text(v.value("body"))))),
		reasonField(v, "reason"),
		h.Div(h.Class("row"), h.Button(h.Type("submit"), g.Text(action.label+" for "+peopleCount(len(people)))), h.A(h.Href(Path+"people"), g.Text("Cancel"))),
	)
}

// bulkResult is how an action for several people went. It holds ids only.
type bulkResult struct {
	Action string
	Done   int
	Failed []bulkFailure
}

type bulkFailure struct{ ID, Why string }

// changeBulk does the action for each of the people who were shown. A failure of
// one leaves the others as they are. It is safe to repeat with the same key.
func (c *Console) changeBulk(v *viewer) (string, error) {
	action, err := bulkActionOf(v)
	if err != nil {
		return "", err
	}
	form := v.request.PostForm
	switch {
	case !v.can(action.needs):
		return "", &refusal{status: http.StatusForbidden, message: "permission " + string(action.needs) + " is needed"}
	case strings.TrimSpace(form.Get("reason")) == "":
		return "", &refusal{status: http.StatusBadRequest, message: "reason: must not be empty"}
	case action.name == "send" && strings.TrimSpace(form.Get("body")) == "":
		return "", &refusal{status: http.StatusBadRequest, message: "message: must not be empty"}
	}
	ids := form["id"]
	result := bulkResult{Action: action.label}
	for _, id := range ids[:min(len(ids), maxBulk)] {
		q := action.call(v, id)
		q.Reason, q.Header = form.Get("reason"), map[string]string{keyHeader: form.Get("key") + "-" + id}
		_, err := send[any](v, q)
		var refused *refusal
		switch {
		case err == nil:
			result.Done++
		case errors.As(err, &refused):
			result.Failed = append(result.Failed, bulkFailure{ID: id, Why: refused.message})
		default:
			c.cfg.Logger.Error("an action for several people failed for one of them", "participant", id, "error", err)
			result.Failed = append(result.Failed, bulkFailure{ID: id, Why: "something failed on our side; try again later"})
		}
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return "", fmt.Errorf("encoding the result: %w", err)
	}
	c.sessions.Put(v.request.Context(), keyBulk, string(raw))
	v.notice = action.label + " is done for " + peopleCount(result.Done)
	return "people/bulk/result", nil
}

// showBulkResult says how the viewer's last action for several people went.
func (c *Console) showBulkResult(v *viewer) (page, error) {
	raw := c.sessions.GetString(v.request.Context(), keyBulk)
	if raw == "" {
		return page{}, errNoPage
	}
	var result bulkResult
	if err := json.Unmarshal([]byte(raw), &result); err != nil {
		return page{}, fmt.Errorf("decoding the result: %w", err)
	}
	failed := []g.Node{h.P(g.Text("None failed."))}
	if len(result.Failed) > 0 {
		failed = []g.Node{h.H2(g.Text("Failed for " + peopleCount(len(result.Failed)))), h.Ul(g.Map(result.Failed, func(f bulkFailure) g.Node {
			name := f.ID
			if p, err := get[api.Participant](v, participantsPath+"/"+url.PathEscape(f.ID), nil); err == nil {
				name = nameOf(p)
			}
			return h.Li(h.A(h.Href(Path+"people/"+f.ID), g.Text(name)), g.Text(": "+f.Why))
		}))}
	}
	return page{title: result.Action, section: "people", body: []g.Node{
		h.H1(g.Text(result.Action)), h.P(g.Text("Done for " + peopleCount(result.Done) + ".")), g.Group(failed),
		h.P(h.A(h.Href(Path+"people"), g.Text("Back to people"))),
	}}, nil
}
