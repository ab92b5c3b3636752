package starter

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"coachline/internal/api"
	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
	"coachline/models/wire"
)

const viewsPath = "/views"

type newViewRequest struct {
	Body api.NewPeopleView
}

type viewRequest struct {
	ID int64 `path:"id" minimum:"1" doc:"Id of a view."`
}

// viewRoutes answers what concerns saved views of people.
type viewRoutes struct {
	base
	views *store.Views
}

func (h *viewRoutes) register(router huma.API) {
	register(router, route{method: http.MethodGet, path: viewsPath, id: "list-views", needs: auth.ParticipantRead, summary: "Saved filters of the list of people: the caller's and shared ones"}, h.listViews)
	register(router, route{method: http.MethodPost, path: viewsPath, id: "add-view", needs: auth.ParticipantRead, summary: "Save filters of the list of people under a name",
		status: http.StatusCreated, errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}}, h.addView)
	register(router, route{method: http.MethodGet, path: viewsPath + "/{id}", id: "get-view", needs: auth.ParticipantRead, summary: "One view that the caller sees",
		errors: []int{http.StatusNotFound}}, h.getView)
	register(router, route{method: http.MethodDelete, path: viewsPath + "/{id}", id: "delete-view", needs: auth.ParticipantRead, summary: "Remove a view of the caller's own, or any where they may change users",
		errors: []int{http.StatusNotFound}}, h.deleteView)
}

func (h *viewRoutes) listViews(ctx context.Context, _ *noInput) (*answer[api.PeopleViewList], error) {
	rows, err := h.views.List(ctx, actorOf(ctx))
	return newAnswer("", api.PeopleViewList{Views: copyNonNil(rows)}), h.toFailure("listing views", err)
}

// getView finds a view among those that the caller sees, which are few.
func (h *viewRoutes) getView(ctx context.Context, in *viewRequest) (*taggedAnswer[models.PeopleView], error) {
	rows, err := h.views.List(ctx, actorOf(ctx))
	if err != nil {
		return nil, h.toFailure("reading the view", err)
	}
	i := slices.IndexFunc(rows, func(row models.PeopleView) bool { return row.ID == in.ID })
	if i < 0 {
		return nil, newFailure(http.StatusNotFound, "view not found")
	}
	return newTagged(rows[i])
}

func (h *viewRoutes) addView(ctx context.Context, in *newViewRequest) (*created[models.PeopleView], error) {
	name := strings.TrimSpace(in.Body.Name)
	if name == "" {
		return nil, newFailure(http.StatusBadRequest, "name: must not be blank")
	}
	query, err := cleanView(in.Body.Query)
	if err == nil {
		err = models.CheckText("name", name, false)
	}
	if err != nil {
		return nil, h.toFailure("saving the view", err)
	}
	saved, err := h.views.AddView(ctx, models.PeopleView{Owner: actorOf(ctx), Name: name, Query: query, Shared: in.Body.Shared, CreatedAt: h.now()})
	if errors.Is(err, models.ErrConflict) {
		return nil, newFailure(http.StatusConflict, "name: is taken by another view of yours")
	}
	return newCreated(viewsPath+"/"+strconv.FormatInt(saved.ID, 10), "View saved", saved), h.toFailure("saving the view", err)
}

func (h *viewRoutes) deleteView(ctx context.Context, in *viewRequest) (*answer[api.Empty], error) {
	who, _ := auth.IdentityOf(ctx)
	err := h.views.DeleteView(ctx, models.ViewRemoval{ID: in.ID, Actor: actorOf(ctx), Any: who.Can(auth.UserChange), Now: h.now()})
	return newAnswer("View deleted", api.Empty{}), h.toFailure("deleting the view", asMissing("a view of yours", err))
}

// viewFilters check the values of the filters that a view may have: those of
// peopleRequest that hold nothing personal and no instant.
var viewFilters = map[string]func(value string) bool{
	"status": isOneOf(wire.Statuses()),
	"attention": func(value string) bool {
		return !slices.ContainsFunc(strings.Split(value, ","), func(kind string) bool { return !isOneOf(wire.Attentions())(kind) })
	},
	"silent_days": func(value string) bool {
		days, err := strconv.Atoi(value)
		return err == nil && days >= 1 && days <= 3660
	},
	"waiting": isTrue, "unreachable": isTrue, "taken_over": isTrue,
	"taken_over_by": func(value string) bool { return len(value) <= 120 },
	"sort":          isOneOf([]models.PeopleOrder{models.OrderHeard, models.OrderSilent, models.OrderNextPrompt, models.OrderName}),
}

func isTrue(value string) bool { return value == "true" }

func isOneOf[T ~string](all []T) func(string) bool {
	return func(value string) bool { return slices.Contains(all, T(value)) }
}

// cleanView returns the filters of a view in one form, without empty ones. The error
// is a *models.FieldError.
func cleanView(query string) (string, error) {
	given, err := url.ParseQuery(query)
	if err != nil {
		return "", models.BadField("query", "is not valid")
	}
	kept := url.Values{}
	for name, values := range given {
		value := values[len(values)-1]
		switch isValid := viewFilters[name]; {
		case isValid == nil:
			return "", models.BadField("query", "a view cannot filter by %s", cleanName(name))
		case value == "":
		case !isValid(value):
			return "", models.BadField("query", "%s has no value that GET /people takes", cleanName(name))
		default:
			kept.Set(name, value)
		}
	}
	if len(kept) == 0 {
		return "", models.BadField("query", "must hold at least one filter")
	}
	return kept.Encode(), nil
}
