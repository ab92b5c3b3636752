package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
)

// Commands carries out operators' commands and prints what came of them: as
// text, or with JSON the API's result as it came.
type Commands struct {
	client *Client
	out    io.Writer
	json   bool
}

// New builds Commands that write to out.
func New(client *Client, out io.Writer, asJSON bool) *Commands {
	return &Commands{client: client, out: out, json: asJSON}
}

// showResult decodes a result and has it rendered, or prints it as it came.
func showResult[T any](c *Commands, r result, render func(io.Writer, T) error) error {
	if c.json {
		return printJSON(c.out, r.raw)
	}
	var value T
	if err := r.decodeInto(&value); err != nil {
		return err
	}
	return render(c.out, value)
}

// callAndShow calls the API and shows the result.
func callAndShow[T any](ctx context.Context, c *Commands, r request, render func(io.Writer, T) error) error {
	got, err := c.client.do(ctx, r)
	if err != nil {
		return err
	}
	return showResult(c, got, render)
}

// listAndShow reads a list to its last page and shows it as one page.
func listAndShow[T any](ctx context.Context, c *Commands, l listing, query url.Values, render func(io.Writer, T) error) error {
	items, err := listItems[json.RawMessage](ctx, c.client, l, query)
	if err != nil {
		return err
	}
	page, err := joinPages(l, items)
	if err != nil {
		return err
	}
	return showResult(c, page, render)
}
