package rig

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coachline/internal/wait"
	"coachline/models"
)

// importEvery is how often an import is asked how far it is.
const importEvery = 200 * time.Millisecond

// Import enrols the people of a file, at most perMinute of them greeted in a minute,
// and returns when all are enrolled.
func (f httpAPI) Import(ctx context.Context, numbers []string, perMinute int) error {
	file := "phone_number,name,timezone\n"
	for _, number := range numbers {
		file += number + ",Ann,UTC\n"
	}
	var job struct {
		Result struct {
			ID    string             `json:"id"`
			State models.CohortState `json:"state"`
		} `json:"result"`
	}
	query := url.Values{"per_minute": {fmt.Sprint(perMinute)}}
	if err := f.call(ctx, http.MethodPost, "/cohorts?"+query.Encode(), file, &job); err != nil {
		return err
	}
	path := "/cohorts/" + url.PathEscape(job.Result.ID)
	if err := f.call(ctx, http.MethodPost, path+"/confirm", "", &job); err != nil {
		return err
	}
	for !job.Result.State.IsOver() {
		if err := wait.For(ctx, importEvery); err != nil {
			return fmt.Errorf("waiting for the import: %w", err)
		}
		if err := insist(ctx, func() error { return f.call(ctx, http.MethodGet, path, "", &job) }); err != nil {
			return err
		}
	}
	if job.Result.State == models.CohortDone {
		return nil
	}
	return fmt.Errorf("the import of %d people is %s", len(numbers), job.Result.State)
}

// call sends a table, or nothing, and reads the answer.
func (f httpAPI) call(ctx context.Context, method, path, table string, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, f.base+path, strings.NewReader(table))
	if err != nil {
		return fmt.Errorf("building a request: %w", err)
	}
	if table != "" {
		req.Header.Set("Content-Type", "text/csv")
	}
	return f.phones.read(req, out)
}
