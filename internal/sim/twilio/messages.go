package twilio

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPage = 50
	largestPage = 1000
)

var serviceSID = regexp.MustCompile(`^MG[0-9a-fA-F]{32}$`)

// carrier wraps a route of the Messages API: body, account, faults.
func (s *Server) carrier(t target, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", s.cfg.Now().UTC().Format(http.TimeFormat))
		// The body is read first: only then does the server notice a caller
		// that gives up while a fault holds its answer.
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if err := r.ParseForm(); err != nil {
			refusal{20001, "The form cannot be read"}.writeTo(w, http.StatusBadRequest)
			return
		}
		user, password, _ := r.BasicAuth()
		if !isEqual(user, s.cfg.AccountSID) || !isEqual(password, s.cfg.AuthToken) {
			refusal{codeAuthenticate, message(codeAuthenticate)}.writeTo(w, http.StatusUnauthorized)
			return
		}
		if r.PathValue("sid") != s.cfg.AccountSID {
			notFound(w, r)
			return
		}
		serve := next
		if f, hit := s.faults.takeFault(t, r.PostForm.Get("To")); hit {
			serve = s.serveFault(f, refuseSending, next)
		}
		serve(w, r)
	})
}

func isEqual(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func notFound(w http.ResponseWriter, r *http.Request) {
	refusal{codeNotFound, "The requested resource " + r.URL.Path + " was not found"}.writeTo(w, http.StatusNotFound)
}

func refuseSending(w http.ResponseWriter, f fault) {
	code := f.Code
	if code == 0 && f.Status == http.StatusTooManyRequests {
		code = codeTooMany
	}
	refusal{code, message(code)}.writeTo(w, f.Status)
}

func (s *Server) fetchMessage(w http.ResponseWriter, r *http.Request) {
	sid, isJSON := strings.CutSuffix(r.PathValue("file"), ".json")
	t, found := s.network.get(sid)
	if !isJSON || !found || t.Deleted {
		notFound(w, r)
		return
	}
	writeJSON(w, http.StatusOK, s.resource(t))
}

// deleteMessage takes a text out of the carrier's memory; the phone keeps it.
func (s *Server) deleteMessage(w http.ResponseWriter, r *http.Request) {
	sid, isJSON := strings.CutSuffix(r.PathValue("file"), ".json")
	t, found := s.network.get(sid)
	switch {
	case !isJSON || !found || t.Deleted:
		notFound(w, r)
	case t.Status == statusAccepted || t.Status == statusQueued:
		refusal{codeUnfinished, "The message is not complete yet"}.writeTo(w, http.StatusConflict)
	default:
		if err := s.network.update(change{SID: sid, Deleted: true}); err != nil {
			refusal{codeInternal, message(codeInternal)}.writeTo(w, http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// resource is Twilio's shape of a message.
func (s *Server) resource(t text) map[string]any {
	uri := "/" + apiVersion + "/Accounts/" + s.cfg.AccountSID + "/Messages/" + t.SID
	body := map[string]any{
		"account_sid": s.cfg.AccountSID, "api_version": apiVersion, "sid": t.SID, "body": t.Body,
		"direction": "outbound-api", "from": s.cfg.From, "to": t.Phone, "status": t.Status,
		"num_segments": strconv.Itoa(segments(t.Body)), "num_media": "0",
		"price": nil, "price_unit": "USD", "error_code": nil, "error_message": nil,
		"messaging_service_sid": nil, "date_sent": nil,
		"date_created": t.CreatedAt.Format(time.RFC1123Z), "date_updated": t.UpdatedAt.Format(time.RFC1123Z),
		"uri": uri + ".json", "subresource_uris": map[string]string{"media": uri + "/Media.json"},
	}
	if t.Service != "" {
		body["messaging_service_sid"] = t.Service
	}
	if t.Code != 0 {
		body["error_code"] = t.Code
	}
	if t.Status == statusAccepted {
		// The service has not chosen a sender yet.
		body["from"], body["num_segments"] = nil, "0"
	}
	if sentAt := t.dateSent(); !sentAt.IsZero() {
		body["date_sent"] = sentAt.Format(time.RFC1123Z)
	}
	if t.Direction == fromPhone {
		body["direction"], body["from"], body["to"], body["status"] = "inbound", t.Phone, s.cfg.From, statusReceived
	}
	return body
}

// dateSent is zero for a text that is still in the queue.
func (t text) dateSent() time.Time {
	if t.Direction == fromPhone {
		return t.CreatedAt
	}
	return t.SentAt
}

func (s *Server) listMessages(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	keep, err := s.filter(query)
	if err != nil {
		refusal{20001, err.Error()}.writeTo(w, http.StatusBadRequest)
		return
	}
	newest := s.cfg.Now().Add(-s.cfg.ListLag)
	found := s.network.listTexts(func(t text) bool { return keep(t) && !t.Deleted && !t.CreatedAt.After(newest) })
	slices.Reverse(found) // Newest first, as Twilio lists them.
	size := min(max(parseNumber(query.Get("PageSize"), defaultPage), 1), largestPage)
	at := max(parseNumber(query.Get("Page"), 0), 0)
	start := min(at*size, len(found))
	end := min(start+size, len(found))
	list := []map[string]any{}
	for _, t := range found[start:end] {
		list = append(list, s.resource(t))
	}
	pageURI := func(n int) string {
		query.Set("Page", strconv.Itoa(n))
		query.Set("PageSize", strconv.Itoa(size))
		return r.URL.Path + "?" + query.Encode()
	}
	envelope := map[string]any{
		"messages": list, "page": at, "page_size": size, "start": start, "end": max(end-1, 0),
		"uri": pageURI(at), "first_page_uri": pageURI(0), "next_page_uri": nil, "previous_page_uri": nil,
	}
	if end < len(found) {
		envelope["next_page_uri"] = pageURI(at + 1)
	}
	if at > 0 {
		envelope["previous_page_uri"] = pageURI(at - 1)
	}
	writeJSON(w, http.StatusOK, envelope)
}

func parseNumber(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return otherwise
}

// filter reads To, From, and DateSent with its forms "DateSent<" (at or
// before) and "DateSent>" (at or after). A date is its whole day in UTC. Texts
// that were not sent yet match no date.
func (s *Server) filter(query url.Values) (func(text) bool, error) {
	dates := period{}
	for name, values := range query {
		if strings.HasPrefix(name, "DateSent") {
			if err := dates.setBound(name, values[0]); err != nil {
				return nil, err
			}
		}
	}
	to, by := query.Get("To"), query.Get("From")
	return func(t text) bool {
		recipient, sender := t.Phone, s.cfg.From
		if t.Direction == fromPhone {
			recipient, sender = sender, recipient
		}
		return (to == "" || to == recipient) && (by == "" || by == sender) && dates.contains(t.dateSent())
	}, nil
}

// period is from its first second to its last; a zero bound is none.
type period struct{ from, until time.Time }

func (p *period) setBound(name, value string) error {
	first, last, err := parseSpan(value)
	if err != nil {
		return err
	}
	switch name {
	case "DateSent":
		p.from, p.until = first, last
	case "DateSent>":
		p.from = first
	case "DateSent<":
		p.until = last
	}
	return nil
}

func (p *period) contains(at time.Time) bool {
	at = at.Truncate(time.Second)
	return (p.from.IsZero() || !at.Before(p.from)) && (p.until.IsZero() || !at.IsZero() && !at.After(p.until))
}

// parseSpan is the first and last second that a filter value covers.
func parseSpan(value string) (first, last time.Time, err error) {
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return at, at, nil
	}
	day, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return first, last, errors.New("DateSent: want YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ")
	}
	return day, day.AddDate(0, 0, 1).Add(-time.Second), nil
}

const (
	gsmBasic    = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtended = "^{}\\[]~|€\f"
)

// segments counts the parts of an SMS: 160 septets or 153 a part, and 70 UTF-16
// units or 67 a part as soon as one character is not of the GSM alphabet.
func segments(body string) int {
	septets, units, plain := 0, 0, true
	for _, r := range body {
		units++
		if r > 0xFFFF {
			units++
		}
		septets++
		switch {
		case strings.ContainsRune(gsmExtended, r):
			septets++
		case !strings.ContainsRune(gsmBasic, r):
			plain = false
		}
	}
	length, single, joined := septets, 160, 153
	if !plain {
		length, single, joined = units, 70, 67
	}
	if length <= single {
		return 1
	}
	return (length + joined - 1) / joined
}
