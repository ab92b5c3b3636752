package cli

import (
	"context"
	"net/http"

	"coachline/internal/api"
)

// FetchStudy reads a study of the installation.
func (c *Commands) FetchStudy(ctx context.Context, id string) (api.Study, error) {
	got, err := c.client.do(ctx, request{method: http.MethodGet, path: studyPath(id)})
	if err != nil {
		return api.Study{}, err
	}
	var study api.Study
	return study, got.decodeInto(&study)
}
