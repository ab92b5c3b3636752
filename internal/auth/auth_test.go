package auth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/models"
)

func TestRoles(t *testing.T) {
	for _, role := range Roles() {
		require.NotEmpty(t, PermissionsOf(role), role)
		require.NotContains(t, role.Describe(), "unknown")
		parsed, err := ParseRole(string(role))
		require.NoError(t, err)
		require.Equal(t, role, parsed)
	}
	require.ElementsMatch(t, Permissions(), PermissionsOf(RoleAdmin))
	_, err := ParseRole("owner")
	require.ErrorContains(t, err, "role: must be one of viewer,")
	require.Empty(t, PermissionsOf("owner"))
}

// TestRolesGrow: who may do more keeps what others may do, except that a
// researcher sees no personal data.
func TestRolesGrow(t *testing.T) {
	require.Subset(t, PermissionsOf(RoleCoach), PermissionsOf(RoleViewer))
	require.Subset(t, PermissionsOf(RoleSafety), PermissionsOf(RoleCoach))
	require.Subset(t, PermissionsOf(RoleLead), PermissionsOf(RoleSafety))
	for _, never := range []Permission{PersonalRead, TurnRead, MemoryRead, MessageSend, PayloadDecode} {
		require.NotContains(t, PermissionsOf(RoleResearcher), never)
	}
	for _, admins := range []Permission{UserChange, TokenChange, AllocationRead} {
		require.NotContains(t, PermissionsOf(RoleLead), admins)
	}
}

func TestIdentityCan(t *testing.T) {
	user := UserIdentity(models.User{ID: "usr_1", Login: "ada", Role: string(RoleViewer)}, "ses_1")
	require.True(t, user.Can(ParticipantRead))
	require.False(t, user.Can(MessageSend))
	require.Equal(t, "user:ada", user.Actor)

	token := TokenIdentity(models.Token{ID: "tok_1", Name: "redcap", Scopes: "message:send export:read"})
	require.True(t, token.Can(MessageSend))
	require.False(t, token.Can(ParticipantRead))
	token.Role = RoleAdmin // A role gives a token nothing.
	require.False(t, token.Can(ParticipantRead))

	require.True(t, AdminIdentity(KindBootstrap).Can(UserChange))
	require.False(t, Identity{Kind: KindUser, Role: "owner"}.Can(ParticipantRead))
	require.False(t, Identity{}.Can(ParticipantRead))
}

func TestScopes(t *testing.T) {
	scopes, err := ParseScopes([]string{"message:send", "export:read", "message:send"})
	require.NoError(t, err)
	require.Equal(t, scopes, SplitScopes(JoinScopes(scopes)))
	require.Len(t, scopes, 2)
	_, err = ParseScopes([]string{"message:shout"})
	require.ErrorContains(t, err, `scopes: "message:shout" is no permission`)
	_, err = ParseScopes(nil)
	require.ErrorContains(t, err, "scopes: must name")
}

func TestPasswords(t *testing.T) {
	hash, err := HashPassword("correct horse battery")
	require.NoError(t, err)
	require.True(t, CheckPassword("correct horse battery", hash))
	require.False(t, CheckPassword("correct horse batterz", hash))
	require.False(t, CheckPassword("", ""))
	require.False(t, CheckPassword("", emptyHash))
	for _, bad := range []string{"short", strings.Repeat("x", MaxPassword+1), "twelve bytes\xff"} {
		_, err := HashPassword(bad)
		require.ErrorContains(t, err, "password: ")
	}
}

func TestTokensAreRandom(t *testing.T) {
	first, second := NewToken(), NewToken()
	require.NotEqual(t, first, second)
	require.Len(t, HashSecret(NewToken()), 64)
	require.True(t, strings.HasPrefix(NewID("usr"), "usr_"))
}
