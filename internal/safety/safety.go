// Package safety writes the public page that says what an installation recognises as danger,
// what happens then, which numbers a country has, and where the limits are, in five
// languages and from the settings alone.
package safety

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"coachline/internal/helplines"
)

// Path is where the page is.
const Path = "/safety"

// Facts are what the page says of an installation.
type Facts struct {
	Programme, Support, Terms string
	// TeamTold: a person is paged; SecondLook: a model reads weak signs once more.
	TeamTold, SecondLook bool
	// EscalationMinutes is after how long a page is repeated; 0: never.
	EscalationMinutes int
	// Helplines are the numbers of countries, nil for the programme's own; Region is the
	// country of people of whom no other is known.
	Helplines *helplines.Table
	Region    string
}

//go:embed page.html style.css texts
var files embed.FS

// languages are those of the page, English first; their files are in texts.
var languages = []language.Tag{language.English, language.German, language.Spanish, language.French, language.Portuguese}

// Page serves the page. It is safe for use by several goroutines.
type Page struct {
	facts   Facts
	texts   map[string]*template.Template
	policy  string
	matcher language.Matcher
	codes   []string
}

// New reads the texts. An error names the file.
func New(facts Facts) (*Page, error) {
	style, err := files.ReadFile("style.css")
	if err != nil {
		return nil, fmt.Errorf("reading the style of the safety page: %w", err)
	}
	sum := sha256.Sum256(style)
	p := &Page{
		facts: facts, texts: map[string]*template.Template{}, matcher: language.NewMatcher(languages),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	}
	for _, tag := range languages {
		code := tag.String()
		p.codes = append(p.codes, code)
		css := func() template.CSS { return template.CSS(style) } //nolint:gosec // our own file
		p.texts[code], err = template.New("page.html").Funcs(template.FuncMap{"style": css, "dial": dial}).ParseFS(files, "page.html", "texts/"+code+".html")
		if err != nil {
			return nil, fmt.Errorf("reading the safety page in %s: %w", code, err)
		}
	}
	return p, nil
}

// dial returns a number as a phone dials it.
func dial(number string) string { return strings.NewReplacer(" ", "", "-", "").Replace(number) }

// shown is what the page is made of.
type shown struct {
	Facts
	Language, Country string
	Languages         []choice
	Countries         []choice
	Lines             helplines.Lines
}

// choice is a language or a country that may be chosen.
type choice struct {
	Code, Name string
	IsChosen   bool
}

// ServeHTTP answers in the language that the query names (lang) or the reader prefers, with
// the numbers of the country that the query names, or that of the reader's language, or else
// of the installation.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	var body bytes.Buffer
	in := p.read(r)
	if err := p.texts[in.Language].Execute(&body, in); err != nil {
		http.Error(w, "the page could not be written", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", p.policy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Language", in.Language)
	w.Header().Set("Vary", "Accept-Language")
	_, _ = body.WriteTo(w) // the reader may be gone
}

func (p *Page) read(r *http.Request) shown {
	query := r.URL.Query()
	_, index := language.MatchStrings(p.matcher, query.Get("lang"), r.Header.Get("Accept-Language"))
	out := shown{Facts: p.facts, Language: p.codes[index], Country: p.facts.Region}
	preferred, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err == nil && len(preferred) > 0 {
		if _, _, region := preferred[0].Raw(); p.facts.Helplines.Has(region.String()) {
			out.Country = region.String()
		}
	}
	if wanted := query.Get("country"); p.facts.Helplines.Has(wanted) {
		out.Country = wanted
	}
	out.Lines = p.facts.Helplines.Of(out.Country, out.Language)
	names := display.Regions(languages[index])
	for _, code := range p.facts.Helplines.Countries() {
		out.Countries = append(out.Countries, choice{code, names.Name(language.MustParseRegion(code)), code == out.Country})
	}
	slices.SortFunc(out.Countries, func(a, b choice) int { return cmp.Compare(a.Name, b.Name) })
	for i, code := range p.codes {
		out.Languages = append(out.Languages, choice{code, display.Self.Name(languages[i]), i == index})
	}
	return out
}
