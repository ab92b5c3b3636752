package web

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"coachline/internal/redact"
	"coachline/internal/text"
)

// Lengths of what is kept of a hit, in characters.
const (
	maxTitle   = 150
	maxSnippet = 400
	maxAddress = 500
)

// Hit is one result of a search, each part on one line. All of it is written
// by strangers.
type Hit struct {
	Title   string
	URL     string
	Snippet string
}

// masks are what masking leaves; no search engine has a use for them.
var masks = regexp.MustCompile(`\[REDACTED_[A-Z]+\]`)

// Search finds at most five pages, best first; none is no error. Personal data
// in the query is left out before it is sent. A *Fault says what went wrong,
// for the model; every other error is the end of ctx. Asking again is harmless.
func (c *Client) Search(ctx context.Context, query string) ([]Hit, error) {
	words := oneLine(masks.ReplaceAllString(redact.Scrub(query), " "))
	if words == "" {
		return nil, fault(KindRefused, "nothing is left to search for without personal data; use other words")
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	body, err := c.ask(limited, words)
	if err != nil {
		return nil, requestError(ctx, err)
	}
	var answer struct {
		Results []struct {
			Title   string `json:"title"`
			URL     string `json:"url"`
			Content string `json:"content"`
		} `json:"results"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil, fault(KindUnreadable, "the search is out of order right now")
	}
	var hits []Hit
	for _, one := range answer.Results {
		address, err := url.Parse(one.URL)
		if err != nil || !isWeb(address) || len(one.URL) > maxAddress || len(hits) == maxHits {
			continue
		}
		hits = append(hits, Hit{Title: text.Truncate(oneLine(one.Title), maxTitle), URL: address.String(), Snippet: text.Truncate(oneLine(one.Content), maxSnippet)})
	}
	return hits, nil
}

func (c *Client) ask(ctx context.Context, words string) ([]byte, error) {
	address := *c.search
	query := address.Query()
	query.Set("q", words)
	address.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.engine.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }() // it was only read
	if res.StatusCode != http.StatusOK {
		return nil, fault(KindStatus, "the search is out of order right now (status %d)", res.StatusCode)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxBody))
}

// oneLine is what can be seen of a text, on one line.
func oneLine(body string) string {
	return text.OneLine(text.Visible(strings.ToValidUTF8(body, "")))
}
