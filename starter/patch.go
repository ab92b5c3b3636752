package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	jsonpatch "github.com/evanphx/json-patch/v5"
)

// mergePatchType is the media type of RFC 7396.
const mergePatchType = "application/merge-patch+json"

// PatchInput is what every PATCH takes.
type PatchInput struct {
	ID      string `path:"id" maxLength:"64" doc:"Id of what is changed."`
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag that the change is based on; refused with 412 when it is not the newest."`
	RawBody []byte `contentType:"application/merge-patch+json"`
	// mediaType is what the caller says that the body is.
	mediaType string
}

var _ huma.Resolver = (*PatchInput)(nil)

// Resolve keeps the media type, which the library does not check for a raw body.
func (p *PatchInput) Resolve(ctx huma.Context) []error {
	p.mediaType = ctx.Header("Content-Type")
	return nil
}

func (p *PatchInput) base() *PatchInput { return p }

// patchInput is an input that has what every PATCH takes.
type patchInput[In any] interface {
	*In
	base() *PatchInput
}

// merging says how a resource takes a JSON merge patch: by the change that its PUT
// makes, whose body Body is.
type merging[In, Body, Out any] struct {
	route
	// cleared is the value to which null sets a field; nil leaves the field out. Null
	// is refused for a field that is not here.
	cleared map[string]any
	// isWhole: the change takes all fields, and not only those that are to change.
	isWhole bool
	// read returns what is in force, as far as a patch is merged with it, and its
	// version. It may be nil for a body of single values that may each be left out.
	read func(ctx context.Context, in *In) (Body, string, error)
	// change refuses with 412 where ifMatch is not the newest version.
	change func(ctx context.Context, in *In, ifMatch string, body Body) (*Out, error)

	registry huma.Registry
	schema   *huma.Schema
}

// registerPatch adds a PATCH that takes a JSON merge patch (RFC 7396). Only the
// fields that the patch names reach a change that takes some, so that two patches of
// different fields both hold.
func registerPatch[In, Body, Out any, P patchInput[In]](router huma.API, m merging[In, Body, Out]) {
	m.method = http.MethodPatch
	m.errors = []int{
		http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	}
	// The document shows the patch and not the body that it is merged into.
	m.registry = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	m.schema = m.registry.Schema(reflect.TypeFor[Body](), true, "")
	for m.schema.Ref != "" {
		m.schema = m.registry.SchemaFromRef(m.schema.Ref)
	}
	register(router, m.route, func(ctx context.Context, in *In) (*Out, error) { return m.apply(ctx, in, P(in).base()) })
	shown := &huma.MediaType{Schema: m.describe()}
	router.OpenAPI().Paths[m.path].Patch.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{mergePatchType: shown, "application/json": shown},
	}
}

// describe is the schema of a patch: every field may be left out, and those with an
// empty value may be null.
func (m merging[In, Body, Out]) describe() *huma.Schema {
	out := &huma.Schema{
		Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false,
		Description: "A JSON merge patch: fields that are left out stay as they are, and null clears a field.",
	}
	for name, field := range m.schema.Properties {
		if field.Ref != "" {
			field = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "Merged with what is in force, in the same way."}
		}
		if _, clears := m.cleared[name]; clears {
			field = &huma.Schema{AnyOf: []*huma.Schema{field, {Type: "null"}}, Description: field.Description}
		}
		out.Properties[name] = field
	}
	return out
}

// apply makes the change, and again where others change the resource in between,
// unless the caller says which version is meant.
func (m merging[In, Body, Out]) apply(ctx context.Context, in *In, base *PatchInput) (*Out, error) {
	patch, err := m.parse(base)
	if err != nil {
		return nil, err
	}
	named := strings.TrimSpace(base.IfMatch)
	if named == "*" {
		named = ""
	}
	for range maxChangeTries {
		out, err := m.try(ctx, in, named, patch)
		var refused *failure
		isStale := errors.As(err, &refused) && refused.code == http.StatusPreconditionFailed
		if !isStale || named != "" {
			return out, err
		}
	}
	return nil, newFailure(http.StatusConflict, "this is being changed by others, try again")
}

// parse reads the fields of a patch. It refuses null for a field that has no empty
// value.
func (m merging[In, Body, Out]) parse(base *PatchInput) (map[string]json.RawMessage, error) {
	if base.mediaType != "" {
		kind, _, err := mime.ParseMediaType(base.mediaType)
		if err != nil || kind != mergePatchType && kind != "application/json" {
			return nil, newFailure(http.StatusUnsupportedMediaType, "Content-Type: must be %s or application/json", mergePatchType)
		}
	}
	if !utf8.Valid(base.RawBody) {
		return nil, newFailure(http.StatusBadRequest, "body: is not valid UTF-8")
	}
	if !json.Valid(base.RawBody) {
		return nil, newFailure(http.StatusBadRequest, "body: is not valid JSON")
	}
	var patch map[string]json.RawMessage
	if err := json.Unmarshal(base.RawBody, &patch); err != nil || patch == nil {
		return nil, newFailure(http.StatusBadRequest, "body: must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		_, clears := m.cleared[name]
		switch {
		case m.schema.Properties[name] == nil:
			return nil, newFailure(http.StatusBadRequest, "%s: unknown field", name)
		case isNull(patch[name]) && !clears:
			return nil, newFailure(http.StatusBadRequest, "%s: cannot be null, because it has no empty value", name)
		}
	}
	return patch, nil
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// try merges the patch with what is in force now, and makes the change to that
// version.
func (m merging[In, Body, Out]) try(ctx context.Context, in *In, version string, patch map[string]json.RawMessage) (*Out, error) {
	var now Body
	if m.read != nil {
		var newest string
		var err error
		if now, newest, err = m.read(ctx, in); err != nil {
			return nil, err
		}
		if version != "" && strings.Trim(version, `"`) != strings.Trim(newest, `"`) {
			return nil, newFailure(http.StatusPreconditionFailed, "If-Match: somebody changed it meanwhile; read it again")
		}
		version = newest
	}
	body, err := m.merge(now, patch)
	if err != nil {
		return nil, err
	}
	return m.change(ctx, in, version, body)
}

// merge returns the body of the change, checked as the body of a PUT is.
func (m merging[In, Body, Out]) merge(now Body, patch map[string]json.RawMessage) (Body, error) {
	var body Body
	target, err := json.Marshal(now)
	if err != nil {
		return body, fmt.Errorf("encoding what is in force: %w", err)
	}
	change, err := json.Marshal(patch)
	if err != nil {
		return body, fmt.Errorf("encoding the patch: %w", err)
	}
	if target, err = jsonpatch.MergePatch(target, change); err != nil {
		return body, newFailure(http.StatusBadRequest, "body: is no JSON merge patch")
	}
	var merged map[string]json.RawMessage
	if err := json.Unmarshal(target, &merged); err != nil {
		return body, fmt.Errorf("reading the merged fields: %w", err)
	}
	if err := m.setCleared(merged, patch); err != nil {
		return body, err
	}
	if target, err = json.Marshal(merged); err != nil {
		return body, fmt.Errorf("encoding the merged fields: %w", err)
	}
	if err := m.check(target); err != nil {
		return body, err
	}
	if err := strictJSON.Unmarshal(target, &body); err != nil {
		return body, newFailure(http.StatusBadRequest, "body: %s", plainMessage(err.Error()))
	}
	return body, nil
}

// setCleared gives fields that are null in the patch their empty value, and drops
// what the patch does not name where the change takes some fields.
func (m merging[In, Body, Out]) setCleared(merged, patch map[string]json.RawMessage) error {
	for name := range merged {
		if _, named := patch[name]; !named && !m.isWhole {
			delete(merged, name)
		}
	}
	for name, value := range m.cleared {
		if value == nil || !isNull(patch[name]) {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encoding the empty value of %s: %w", name, err)
		}
		merged[name] = raw
	}
	return nil
}

// check holds a merged body to the schema of the body of the PUT.
func (m merging[In, Body, Out]) check(raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return fmt.Errorf("reading the merged fields: %w", err)
	}
	var res huma.ValidateResult
	path := huma.NewPathBuffer([]byte{}, 0)
	path.Push("body")
	huma.Validate(m.registry, m.schema, path, huma.ModeWriteToServer, value, &res)
	if len(res.Errors) > 0 {
		return convertError(http.StatusUnprocessableEntity, "", res.Errors...)
	}
	return nil
}
