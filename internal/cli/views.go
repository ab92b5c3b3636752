package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"coachline/internal/api"
	"coachline/models"
)

func viewCommand(p *program) *cobra.Command {
	return groupCommand("view", "Save filters of the list of people under a name", viewAdd(p),
		callCommand(p, "list", "List your views and shared ones", func(_ []string) request { return request{path: viewsPath} }, func(w io.Writer, list api.PeopleViewList) error {
			return renderViews(w, list.Views)
		}),
		viewShow(p),
		viewDelete(p))
}

func viewAdd(p *program) *cobra.Command {
	var body api.NewPeopleView
	c := &cobra.Command{
		Use: "add NAME --query FILTERS", Short: "Save filters under a name", Args: exactArgs(1),
		Long: "Saves filters as the address of the console's list of people has them, such as 'status=active&silent_days=3'.\n" +
			"They hold nothing personal: no name and no number. The console offers them above the list.",
	}
	c.Flags().StringVar(&body.Query, "query", "", "the filters")
	c.Flags().BoolVar(&body.Shared, "shared", false, "show it to every operator")
	c.RunE = func(c *cobra.Command, args []string) error {
		if body.Query == "" {
			return usageError{errors.New("--query is needed")}
		}
		body.Name = args[0]
		return callAndShow(c.Context(), p, request{method: http.MethodPost, path: viewsPath, body: body}, func(w io.Writer, v models.PeopleView) error {
			return renderViews(w, []models.PeopleView{v})
		})
	}
	return c
}

const viewsPath = "/views"

func viewDelete(p *program) *cobra.Command {
	return verb("delete VIEW", "Remove a view", func(c *cobra.Command, args []string) error {
		id, err := parseNumber("view", args[0])
		if err != nil {
			return err
		}
		return callAndShow(c.Context(), p, request{method: http.MethodDelete, path: viewsPath + "/" + args[0]}, func(w io.Writer, _ struct{}) error {
			_, err := fmt.Fprintf(w, "View %d is deleted.\n", id)
			return err
		})
	})
}

// viewShow prints the people whom a view lists, page by page.
func viewShow(p *program) *cobra.Command {
	return verb("show VIEW", "List the people whom a view selects", func(c *cobra.Command, args []string) error {
		id, err := parseNumber("view", args[0])
		if err != nil {
			return err
		}
		list, err := fetch[api.PeopleViewList](c.Context(), p, viewsPath)
		if err != nil {
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
			return listAndShow(c.Context(), p, listing{"/people", "people"}, query, renderPeople)
		}
		return fmt.Errorf("there is no view %d; see coachline view list", id)
	})
}

func renderViews(w io.Writer, list []models.PeopleView) error {
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
