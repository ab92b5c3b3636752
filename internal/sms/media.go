package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coachline/models"
)

// maxAudio bounds a recording, in bytes.
const maxAudio = 5 << 20

const carrierHost = "api.twilio.com"

var (
	// mediaPath is where the carrier keeps the media of a text.
	mediaPath = regexp.MustCompile(`^/2010-04-01/Accounts/([0-9A-Za-z]+)/Messages/[0-9A-Za-z]+/Media/[0-9A-Za-z]+$`)
	// mediaHosts hold what the carrier redirects to.
	mediaHosts = []string{"media.twiliocdn.com", "mms.twiliocdn.com", "mcs.us1.twilio.com"}
)

// voiceOf lists the sound among the media of a text as the JSON of its row;
// empty where there is none.
func voiceOf(form url.Values, media int) string {
	var notes []models.VoiceNote
	for i := range media {
		kind, ok := audioType(form.Get("MediaContentType" + strconv.Itoa(i)))
		address := form.Get("MediaUrl" + strconv.Itoa(i))
		if ok && address != "" {
			notes = append(notes, models.VoiceNote{Index: i, Type: kind, URL: address})
		}
	}
	if notes == nil {
		return ""
	}
	raw, err := json.Marshal(notes)
	if err != nil { // strings and numbers always have a JSON
		return ""
	}
	return string(raw)
}

func audioType(header string) (string, bool) {
	kind, _, err := mime.ParseMediaType(header)
	return kind, err == nil && strings.HasPrefix(kind, "audio/")
}

// Recording fetches a voice note, with our name and password at the carrier's
// own address only; a redirect is followed, without them, to the carrier's
// media hosts by https. Safe to retry. Errors are
// models.ErrNotOpened where another attempt would end alike, and have no address.
func (c *Client) Recording(ctx context.Context, address string) (models.Recording, error) {
	target, err := c.mediaAddress(address)
	if err != nil {
		return models.Recording{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return models.Recording{}, errors.New("building the request for a recording failed")
	}
	req.SetBasicAuth(c.cfg.AccountSID, c.cfg.AuthToken)
	client := &http.Client{Transport: c.next, CheckRedirect: onlyMediaHosts}
	res, err := client.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return models.Recording{}, fmt.Errorf("fetching a recording: %w", err)
	}
	defer res.Body.Close()
	return readRecording(res)
}

func readRecording(res *http.Response) (models.Recording, error) {
	if res.StatusCode != http.StatusOK {
		return models.Recording{}, fmt.Errorf("%w: the carrier answered %d", models.ErrNotOpened, res.StatusCode)
	}
	kind, ok := audioType(res.Header.Get("Content-Type"))
	if !ok {
		return models.Recording{}, fmt.Errorf("%w: it is no sound", models.ErrNotOpened)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAudio+1))
	if err != nil {
		return models.Recording{}, fmt.Errorf("reading a recording: %w", err)
	}
	if len(data) > maxAudio {
		return models.Recording{}, fmt.Errorf("%w: it is too long", models.ErrNotOpened)
	}
	return models.Recording{Type: kind, Data: data}, nil
}

// mediaAddress admits addresses of our own account at the carrier, and points
// them at the configured server.
func (c *Client) mediaAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return nil, fmt.Errorf("%w: its address is not the carrier's", models.ErrNotOpened)
	}
	path := mediaPath.FindStringSubmatch(u.EscapedPath())
	known := u.Scheme == "https" && u.Host == carrierHost ||
		c.base != nil && u.Scheme == c.base.Scheme && u.Host == c.base.Host
	if !known || path == nil || path[1] != c.cfg.AccountSID {
		return nil, fmt.Errorf("%w: its address is not the carrier's", models.ErrNotOpened)
	}
	if c.base != nil {
		return rewriteURL(u, c.base), nil
	}
	return u, nil
}

func onlyMediaHosts(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || req.URL.Scheme != "https" || !slices.Contains(mediaHosts, req.URL.Host) {
		return fmt.Errorf("%w: it lies elsewhere", models.ErrNotOpened)
	}
	req.Header.Del("Authorization")
	return nil
}
