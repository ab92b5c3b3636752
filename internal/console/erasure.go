package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/models"
)

// dataLink leads to everything that is held about the person.
func (p *person) dataLink() g.Node {
	return g.If(p.viewer.can(auth.ParticipantErase), h.P(h.A(h.Href(Path+p.viewer.personPath()+"/data"), g.Text("Show everything that is held about the person"))))
}

// eraseForm asks for the person's id, so that no slip of the hand erases the wrong person.
func (p *person) eraseForm() g.Node {
	return p.form(action{name: "erase", title: "Erase the person", needs: auth.ParticipantErase, danger: true, button: "Erase for good",
		says: "Every message, fact, note and number of the person is deleted, with the workflow's history and the carrier's copies; a receipt stays. It cannot be undone. Do not name the person in the reason.",
		fields: []g.Node{field("confirm", "The person's id once more: "+p.ID,
			h.Input(h.ID("confirm"), h.Name("confirm"), h.Required(), h.MaxLength("64"), h.AutoComplete("off"), h.Value(p.refillField("erase", "confirm", ""))))}})
}

func erasePerson(v *viewer) (string, error) {
	body := api.NewErasure{Confirm: v.formValue("confirm"), Reason: v.formValue("reason")}
	_, err := send[models.Erasure](v, api.Request{Method: http.MethodPost, Path: v.apiPath() + "/erase", Body: body, Reason: v.formValue("reason")})
	return v.personPath() + "/erasure", err
}

func showErasure(v *viewer) (page, error) {
	receipt, err := get[models.Erasure](v, "/erasures/"+url.PathEscape(v.path("id")), nil)
	if err != nil {
		return page{}, err
	}
	var counts []g.Node
	for _, name := range slices.Sorted(maps.Keys(receipt.Rows)) {
		counts = append(counts, h.Tr(idOf("rows", name), h.Td(g.Text(wordsOf(name))), h.Td(h.Class("number"), g.Text(strconv.FormatInt(receipt.Rows[name], 10)))))
	}
	finished := ""
	if receipt.FinishedAt != nil {
		finished = receipt.FinishedAt.UTC().Format("2 Jan 2006 15:04:05") + " UTC"
	}
	return page{title: "Erasure", section: "people", follow: receipt.ParticipantID, body: []g.Node{
		h.H1(g.Text("Erasure of " + receipt.ParticipantID)),
		h.Dl(h.Class("facts"), factOf("Stands at", string(receipt.State)), factOf("Asked for by", receipt.RequestedBy), factOf("Reason", receipt.Reason),
			factOf("Asked for", receipt.RequestedAt.UTC().Format("2 Jan 2006 15:04:05")+" UTC"), factOf("Finished", finished),
			factOf("Workflow runs deleted", strconv.FormatInt(receipt.Executions, 10)), factOf("Messages deleted at the carrier", strconv.FormatInt(receipt.CarrierMessages, 10)),
			factOf("Messages that may be left at the carrier", strconv.FormatInt(receipt.CarrierUnknown, 10)), factOf("Problem", receipt.Problem)),
		h.H2(g.Text("Rows emptied or deleted")), tableOf("Rows emptied or deleted", []string{"Table", "Rows"}, g.Group(counts)),
		h.H2(g.Text("What the erasure does not reach")), h.Ul(g.Map(receipt.Notes, func(note string) g.Node { return h.Li(idOf("note", shortHash([]byte(note))), g.Text(note)) })),
	}}, nil
}

// showPersonData is everything that is held about a person, for who asks for it.
func showPersonData(v *viewer) (page, error) {
	data, err := get[api.PersonData](v, v.apiPath()+"/data", nil)
	if err != nil {
		return page{}, err
	}
	return page{title: "Data of a person", section: "people", body: []g.Node{
		h.H1(g.Text("What is held about " + data.ParticipantID)),
		h.P(h.A(h.Href(Path+v.personPath()+"/data.json"), g.Text("Download it as JSON"))),
		g.Map(data.Tables, heldTable),
		h.H2(g.Text("Elsewhere")), h.Ul(g.Map(data.Notes, func(note string) g.Node { return h.Li(g.Text(note)) })),
	}}, nil
}

func heldTable(t models.HeldTable) g.Node {
	return h.Section(h.ID("table-"+t.Name), h.H2(g.Text(t.Holds)), h.P(h.Class("quiet"), g.Text(fmt.Sprintf("Kept %s. Rows: %d.", t.Kept, len(t.Rows)))),
		h.Details(h.Summary(g.Text("Show "+wordsOf(t.Name))), g.Map(t.Rows, func(row map[string]string) g.Node {
			return h.Dl(h.Class("facts"), g.Map(slices.Sorted(maps.Keys(row)), func(name string) g.Node { return factOf(wordsOf(name), row[name]) }))
		})))
}
