package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	openAI     = "https://api.openai.com/v1"
	twilio     = "https://api.twilio.com"
	probeLimit = 10 * time.Second
)

// Check is one line of the doctor's report. Run returns a remark, which may be
// empty, or what is wrong; neither holds a secret.
type Check struct {
	Name string
	Run  func(ctx context.Context) (remark string, err error)
}

type finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
}

// ErrCheckFailed says that at least one check failed; the report names it.
var ErrCheckFailed = errors.New("at least one check failed")

// RunChecks runs the checks one after the other, each for 10 s at most, and
// prints a line for each. The error is ErrCheckFailed when one failed.
func RunChecks(ctx context.Context, out io.Writer, asJSON bool, checks []Check) error {
	findings := make([]finding, 0, len(checks))
	var failed error
	for _, check := range checks {
		f := runCheck(ctx, check)
		if !f.OK {
			failed = ErrCheckFailed
		}
		findings = append(findings, f)
	}
	return errors.Join(printFindings(out, asJSON, findings), failed)
}

func runCheck(ctx context.Context, check Check) finding {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	remark, err := check.Run(ctx)
	if err != nil {
		return finding{Name: check.Name, Detail: err.Error()}
	}
	return finding{Name: check.Name, OK: true, Detail: remark}
}

func printFindings(out io.Writer, asJSON bool, findings []finding) error {
	if asJSON {
		raw, err := json.Marshal(findings)
		if err != nil {
			return fmt.Errorf("encoding the report: %w", err)
		}
		return printJSON(out, raw)
	}
	rows := make([][]string, 0, len(findings))
	for _, f := range findings {
		verdict := "failed"
		if f.OK {
			verdict = "ok"
		}
		rows = append(rows, []string{f.Name, verdict, strings.ReplaceAll(f.Detail, "\n", "; ")})
	}
	return writeTable(out, rows)
}

// ProbeModel asks an OpenAI-compatible server for its models; an empty base is
// OpenAI's. It costs nothing. A server that does not list models but answers
// is well.
func ProbeModel(ctx context.Context, base, key string) (string, error) {
	if base == "" {
		base = openAI
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/models", http.NoBody)
	if err != nil {
		return "", fmt.Errorf("OPENAI_BASE_URL: %w", err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	status, err := probeStatus(req)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", base, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "", fmt.Errorf("%s refuses the key (HTTP %d)", base, status)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return base + " answers, but does not list its models", nil
	case status >= http.StatusBadRequest:
		return "", fmt.Errorf("%s answers HTTP %d", base, status)
	}
	return base, nil
}

// ProbeCarrier lists one text of the account, which needs the address, the
// account and its token to be right; an empty base is Twilio's.
func ProbeCarrier(ctx context.Context, base, accountSID, token string) (string, error) {
	if base == "" {
		base = twilio
	}
	target := strings.TrimRight(base, "/") + "/2010-04-01/Accounts/" + url.PathEscape(accountSID) + "/Messages.json?PageSize=1"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("TWILIO_BASE_URL: %w", err)
	}
	req.SetBasicAuth(accountSID, token)
	status, err := probeStatus(req)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", base, err)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "", fmt.Errorf("%s refuses the account or its token (HTTP %d)", base, status)
	case status >= http.StatusBadRequest:
		return "", fmt.Errorf("%s answers HTTP %d", base, status)
	}
	return base, nil
}

func probeStatus(req *http.Request) (int, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, unwrapURL(err)
	}
	defer res.Body.Close()
	return res.StatusCode, nil
}
