package web

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"codeberg.org/readeck/go-readability/v2/render"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"coachline/internal/redact"
	"coachline/internal/text"
)

// maxElements is the largest page, in elements, whose main part is looked for;
// of a larger one all text counts.
const maxElements = 30_000

// Page is the main text of one page, at most 50,000 characters without what
// cannot be seen. All of it is written by strangers.
type Page struct {
	Title string
	Text  string
}

// Fetch reads a public page: http or https, text/html, text/plain or
// application/json, at most 2 MB of it, within 20 seconds and three redirects.
// An address that holds personal data is refused. A *Fault says what went
// wrong, for the model; every other error is the end of ctx. Reading again is
// harmless.
func (c *Client) Fetch(ctx context.Context, address string) (Page, error) {
	target, err := url.Parse(strings.TrimSpace(address))
	if err != nil || !isWeb(target) {
		return Page{}, fault(KindRefused, "this is no web address; it begins with https:// and has no user name")
	}
	if personal(target) {
		return Page{}, fault(KindRefused, "the address holds personal data and is not asked for")
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	page, err := c.visit(limited, target)
	if err != nil {
		return Page{}, requestError(ctx, err)
	}
	page.Text = tidy(page.Text)
	if page.Text == "" {
		return Page{}, fault(KindUnreadable, "the page holds no text that can be read")
	}
	return page, nil
}

// personal: masking would change the address, as it is written or as it is
// meant.
func personal(address *url.URL) bool {
	for _, text := range []string{address.String(), address.Path, address.RawQuery} {
		plain, err := url.QueryUnescape(text)
		if redact.Scrub(text) != text || err == nil && redact.Scrub(plain) != plain {
			return true
		}
	}
	return false
}

func (c *Client) visit(ctx context.Context, target *url.URL) (Page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return Page{}, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/html, text/plain, application/json")
	res, err := c.visitor.Do(req)
	if err != nil {
		return Page{}, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK {
		return Page{}, fault(KindStatus, "the server answered with status %d", res.StatusCode)
	}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || kind != "text/html" && kind != "text/plain" && kind != "application/json" {
		return Page{}, fault(KindUnreadable, "this is no page of text")
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return Page{}, err
	}
	body, err := inUTF8(raw, res.Header.Get("Content-Type"))
	if err != nil {
		return Page{}, fault(KindUnreadable, "the page's characters cannot be read")
	}
	if kind == "text/html" {
		return readable(body, res.Request.URL), nil
	}
	return Page{Text: string(body)}, nil
}

// inUTF8 reads a body in the alphabet that its header or itself names.
func inUTF8(raw []byte, contentType string) ([]byte, error) {
	decoded, err := charset.NewReader(bytes.NewReader(raw), contentType)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(decoded)
}

// readable is the main part of a page, or all of its text where no part is the
// main one.
func readable(body []byte, from *url.URL) Page {
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	article, err := parser.Parse(bytes.NewReader(body), from)
	if err == nil && article.Node != nil {
		page := Page{Title: text.Truncate(oneLine(article.Title()), maxTitle), Text: render.InnerText(article.Node)}
		if strings.TrimSpace(page.Text) != "" {
			return page
		}
	}
	document, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return Page{}
	}
	return Page{Text: render.InnerText(document)}
}

var (
	blanks     = regexp.MustCompile(`[^\S\n]+`)
	emptyLines = regexp.MustCompile(`\s*\n\s*\n\s*`)
)

// tidy is what can be seen of a text, with paragraphs, cut at 50,000
// characters.
func tidy(body string) string {
	body = blanks.ReplaceAllString(text.Visible(strings.ToValidUTF8(body, "")), " ")
	return text.Truncate(strings.TrimSpace(emptyLines.ReplaceAllString(body, "\n\n")), maxPage)
}
