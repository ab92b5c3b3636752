package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"coachline/internal/api"
)

const viewsPath = "/views"

// ListViews prints the caller's views of the list of people, and shared ones.
func (c *Commands) ListViews(ctx context.Context) error {
	return callAndShow(ctx, c, request{method: http.MethodGet, path: viewsPath}, func(w io.Writer, list api.PeopleViewList) error {
		return renderViews(w, list.Views)
	})
}

// AddView saves filters under a name.
func (c *Commands) AddView(ctx context.Context, body api.NewPeopleView) error {
	return callAndShow(ctx, c, request{method: http.MethodPost, path: viewsPath, body: body}, func(w io.Writer, v api.PeopleView) error {
		return renderViews(w, []api.PeopleView{v})
	})
}

// DeleteView removes a view.
func (c *Commands) DeleteView(ctx context.Context, id int64) error {
	r := request{method: http.MethodDelete, path: viewsPath + "/" + strconv.FormatInt(id, 10)}
	return callAndShow(ctx, c, r, func(w io.Writer, _ struct{}) error {
		_, err := fmt.Fprintf(w, "View %d is deleted.\n", id)
		return err
	})
}

// ShowView prints the people whom a view lists, page by page.
func (c *Commands) ShowView(ctx context.Context, id int64) error {
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: viewsPath})
	if err != nil {
		return err
	}
	var list api.PeopleViewList
	if err := got.decodeInto(&list); err != nil {
		return err
	}
	for _, v := range list.Views {
		if v.ID != id {
			continue
		}
		query, err := url.ParseQuery(v.Query)
		if err != nil {
			return fmt.Errorf("reading the filters of view %d: %w", id, err)
		}
		return listAndShow(ctx, c, listing{"/people", "people"}, query, renderPeople)
	}
	return fmt.Errorf("there is no view %d; see coachline view list", id)
}

func renderViews(w io.Writer, list []api.PeopleView) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No views are saved.")
		return err
	}
	rows := [][]string{{"VIEW", "NAME", "FILTERS", "OWNER", "SHARED"}}
	for _, v := range list {
		shared := ""
		if v.Shared {
			shared = "yes"
		}
		rows = append(rows, []string{strconv.FormatInt(v.ID, 10), v.Name, v.Query, v.Owner, shared})
	}
	return writeTable(w, rows)
}

func renderPeople(w io.Writer, page api.PeoplePage) error {
	if len(page.People) == 0 {
		_, err := fmt.Fprintln(w, "No people are in this view.")
		return err
	}
	rows := [][]string{{"ID", "NAME", "STATUS", "ATTENTION", "TAKEN OVER BY", "LAST HEARD"}}
	for _, p := range page.People {
		by, heard := "", "never"
		if p.TakenOver != nil {
			by = p.TakenOver.By
		}
		if p.LastInboundAt != nil {
			heard = formatInstant(*p.LastInboundAt)
		}
		rows = append(rows, []string{p.ID, p.Name, string(p.Status), string(p.Attention), by, heard})
	}
	return writeTable(w, rows)
}
