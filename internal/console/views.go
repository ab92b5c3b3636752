package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

const viewsPath = "/views"

// personalFilters are those of peopleFilters that a view does not keep, because they
// are personal or an instant that passes.
var personalFilters = []string{"name", "phone", "due_from", "due_until"}

// viewsSection offers the saved filters of the list of people, and to save those in
// the address.
func viewsSection(v *viewer, filters url.Values) (g.Node, error) {
	list, err := get[api.PeopleViewList](v, viewsPath, nil)
	if err != nil {
		return nil, err
	}
	var nodes g.Group
	if len(list.Views) > 0 {
		nodes = append(nodes, h.Ul(h.ID("views"), h.Class("row"), h.Aria("label", "Saved filters"), g.Map(list.Views, func(view models.PeopleView) g.Node {
			return h.Li(idOf("view", view.ID), h.A(h.Href(Path+"people?"+view.Query), g.Text(view.Name)), g.If(view.Shared, h.Span(h.Class("quiet"), g.Text(" of "+view.Owner))))
		})))
	}
	return append(nodes, saveViewForm(v, filters), deleteViewForms(v, list.Views)), nil
}

// saveViewForm saves the filters in the address; nil where there is none to save.
func saveViewForm(v *viewer, filters url.Values) g.Node {
	query := keptFilters(filters)
	if query == "" {
		return nil
	}
	return h.Details(h.ID("save-view"), g.If(v.value("view_name") != "", g.Attr("open")), h.Summary(g.Text("Save these filters")),
		h.P(g.Text("A name and a number that are searched for are not saved, nor the hours of a prompt.")),
		postForm("people/views", h.Class("stack"),
			hidden("query", query),
			field("view_name", "Name of the saved filters", h.Input(h.ID("view_name"), h.Name("view_name"), h.Required(), h.MaxLength("60"), h.Value(v.value("view_name")))),
			h.Div(h.Label(h.Input(h.Type("checkbox"), h.Name("shared"), h.Value("yes"), g.If(v.value("shared") != "", h.Checked())), g.Text(" Show them to every operator"))),
			h.Button(h.Type("submit"), g.Text("Save"))))
}

// keptFilters are the filters that a view keeps, as in an address.
func keptFilters(filters url.Values) string {
	kept := url.Values{}
	for name, values := range filters {
		kept[name] = values
	}
	for _, name := range personalFilters {
		kept.Del(name)
	}
	return kept.Encode()
}

// deleteViewForms remove the saved filters that the viewer may remove.
func deleteViewForms(v *viewer, views []models.PeopleView) g.Node {
	var forms []g.Node
	for _, view := range views {
		if view.Owner != v.who.Actor && !v.can(auth.UserChange) {
			continue
		}
		forms = append(forms, postForm("people/views/"+strconv.FormatInt(view.ID, 10)+"/delete", idOf("delete-view", view.ID),
			h.Button(h.Type("submit"), h.Class("plain"), g.Text("Delete “"+view.Name+"”"))))
	}
	if len(forms) == 0 {
		return nil
	}
	return h.Details(h.ID("delete-views"), h.Summary(g.Text("Delete saved filters")), h.Div(append([]g.Node{h.Class("row")}, forms...)...))
}

func saveView(v *viewer) (string, error) {
	body := api.NewPeopleView{Name: v.formValue("view_name"), Query: v.formValue("query"), Shared: v.formValue("shared") != ""}
	saved, err := send[models.PeopleView](v, api.Request{Method: http.MethodPost, Path: viewsPath, Body: body})
	v.notice = "Saved"
	return "people?" + saved.Query, err
}

func deleteView(v *viewer) (string, error) {
	id, err := strconv.ParseInt(v.request.PathValue("id"), 10, 64)
	if err != nil {
		return "", errors.Join(errNoPage, err)
	}
	_, err = send[api.Empty](v, api.Request{Method: http.MethodDelete, Path: viewsPath + "/" + strconv.FormatInt(id, 10)})
	return "people", err
}
