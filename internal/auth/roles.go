// Package auth says who operates the programme and what each may do: roles and
// their permissions (roles.go), passwords and tokens (secrets.go), the identity
// behind a request (identity.go). Users, sessions and tokens are rows of the
// store; the starter checks a request against the permission of its route.
package auth

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"coachline/models"
)

// Permission is one thing that an operator may do, as entity:verb.
type Permission string

// The permissions. PersonalRead adds names, numbers and texts to what the others
// show; without it lists hold pseudonyms only.
const (
	ParticipantRead   Permission = "participant:read"
	ParticipantEnrol  Permission = "participant:enrol"
	ParticipantChange Permission = "participant:change"
	ParticipantRemove Permission = "participant:remove"
	ParticipantErase  Permission = "participant:erase"
	PersonalRead      Permission = "personal:read"
	MessageSend       Permission = "message:send"
	TakeOver          Permission = "conversation:take_over"
	TurnRead          Permission = "turn:read"
	MemoryRead        Permission = "memory:read"
	MemoryChange      Permission = "memory:change"
	ConsentRead       Permission = "consent:read"
	AttentionRead     Permission = "attention:read"
	AttentionClear    Permission = "attention:clear"
	AlertMark         Permission = "alert:mark"
	HoldRead          Permission = "hold:read"
	HoldChange        Permission = "hold:change"
	AgendaRead        Permission = "agenda:read"
	DeliveryRead      Permission = "delivery:read"
	CostRead          Permission = "cost:read"
	BudgetChange      Permission = "budget:change"
	ExportRead        Permission = "export:read"
	StudyRead         Permission = "study:read"
	StudyChange       Permission = "study:change"
	AllocationRead    Permission = "allocation:read"
	AuditRead         Permission = "audit:read"
	UserRead          Permission = "user:read"
	UserChange        Permission = "user:change"
	TokenRead         Permission = "token:read"
	TokenChange       Permission = "token:change"
	SettingsRead      Permission = "settings:read"
	WebhookRead       Permission = "webhook:read"
	WebhookChange     Permission = "webhook:change"
	PayloadDecode     Permission = "payload:decode"
)

// Role is a named set of permissions.
type Role string

// The roles, from the one that may do least.
const (
	RoleViewer     Role = "viewer"
	RoleResearcher Role = "researcher"
	RoleCoach      Role = "coach"
	RoleSafety     Role = "safety"
	RoleLead       Role = "lead"
	RoleAdmin      Role = models.RoleAdmin
)

// Roles lists every role in the order they are documented.
func Roles() []Role {
	return []Role{RoleViewer, RoleResearcher, RoleCoach, RoleSafety, RoleLead, RoleAdmin}
}

// grants is the one map of who may do what. Admin may do everything and is not
// in it.
var grants = func() map[Role][]Permission {
	viewer := []Permission{
		ParticipantRead, PersonalRead, TurnRead, MemoryRead, ConsentRead, AttentionRead, HoldRead, AgendaRead, DeliveryRead,
	}
	coach := slices.Concat(viewer, []Permission{
		ParticipantEnrol, ParticipantChange, MessageSend, TakeOver, MemoryChange, AttentionClear, HoldChange,
	})
	safety := slices.Concat(coach, []Permission{AlertMark, AuditRead})
	lead := slices.Concat(safety, []Permission{
		ParticipantRemove, ParticipantErase, CostRead, BudgetChange, ExportRead, StudyRead, StudyChange, UserRead, TokenRead, SettingsRead, WebhookRead, PayloadDecode,
	})
	return map[Role][]Permission{
		RoleViewer:     viewer,
		RoleResearcher: {ParticipantRead, AttentionRead, HoldRead, AgendaRead, DeliveryRead, CostRead, ExportRead, StudyRead, ConsentRead},
		RoleCoach:      coach,
		RoleSafety:     safety,
		RoleLead:       lead,
	}
}()

// Permissions lists every permission, sorted.
func Permissions() []Permission {
	all := map[Permission]bool{AllocationRead: true, UserChange: true, TokenChange: true, WebhookChange: true}
	for _, granted := range grants {
		for _, p := range granted {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// PermissionsOf lists what a role may do, sorted; nothing for an unknown role.
func PermissionsOf(r Role) []Permission {
	if r == RoleAdmin {
		return Permissions()
	}
	return slices.Sorted(slices.Values(grants[r]))
}

// ParseRole returns the role of a name. The error is a *models.FieldError.
func ParseRole(name string) (Role, error) {
	if r := Role(name); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", models.BadField("role", "must be one of %s", joinNames(Roles()))
}

// ParseScopes returns the permissions that a token's scopes name. The error is a
// *models.FieldError.
func ParseScopes(names []string) ([]Permission, error) {
	var scopes []Permission
	for _, name := range names {
		p := Permission(name)
		if !slices.Contains(Permissions(), p) {
			return nil, models.BadField("scopes", "%q is no permission; the permissions are %s", name, joinNames(Permissions()))
		}
		if !slices.Contains(scopes, p) {
			scopes = append(scopes, p)
		}
	}
	if len(scopes) == 0 {
		return nil, models.BadField("scopes", "must name at least one permission")
	}
	return scopes, nil
}

func joinNames[T ~string](names []T) string {
	text := make([]string, len(names))
	for i, name := range names {
		text[i] = string(name)
	}
	return strings.Join(text, ", ")
}

// JoinScopes writes permissions as a row of api_tokens keeps them.
func JoinScopes(scopes []Permission) string {
	return strings.ReplaceAll(joinNames(scopes), ",", "")
}

// SplitScopes is the reverse of JoinScopes.
func SplitScopes(row string) []Permission {
	names := strings.Fields(row)
	scopes := make([]Permission, len(names))
	for i, name := range names {
		scopes[i] = Permission(name)
	}
	return scopes
}

// String names the role for texts that people read.
func (r Role) String() string { return string(r) }

// Describe says in one sentence what a role is for.
func (r Role) Describe() string {
	switch r {
	case RoleViewer:
		return "reads people, conversations and what is due"
	case RoleResearcher:
		return "reads lists, figures and exports under pseudonyms: no names, numbers or texts"
	case RoleCoach:
		return "enrols people, writes to them, takes conversations over, holds prompts"
	case RoleSafety:
		return "does what a coach does, marks alerts and reads the audit"
	case RoleLead:
		return "does what safety does, removes and erases people, reads costs and exports"
	case RoleAdmin:
		return "does everything, manages users and tokens"
	}
	return fmt.Sprintf("unknown role %q", string(r))
}
