package starter

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"coachline/internal/auth"
	"coachline/internal/store"
	"coachline/models"
)

// Without a token only a caller who sits at the machine is an administrator, and only
// before there is a user.
func TestOpenAdministrationFailsClosed(t *testing.T) {
	const local = "http://127.0.0.1:8080"
	request := func(change func(*http.Request)) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, local+"/people", http.NoBody)
		r.RemoteAddr = "127.0.0.1:4711"
		if change != nil {
			change(r)
		}
		return r
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for _, tt := range []struct {
		name   string
		cfg    HTTPConfig
		change func(*http.Request)
		user   bool
		open   bool
	}{
		{"this machine", HTTPConfig{PublicURL: local}, nil, false, true},
		{"no public address", HTTPConfig{}, nil, false, true},
		{"a token", HTTPConfig{APIToken: testToken, PublicURL: local}, nil, false, false},
		{"a public address", HTTPConfig{PublicURL: "https://coach.example.org"}, nil, false, false},
		{"a proxy that forwards", HTTPConfig{PublicURL: local}, header("X-Forwarded-For", "203.0.113.9"), false, false},
		{"a proxy with another header", HTTPConfig{PublicURL: local}, header("Forwarded", "for=203.0.113.9"), false, false},
		{"an empty header", HTTPConfig{PublicURL: local}, header("X-Real-Ip", ""), false, false},
		{"another machine", HTTPConfig{PublicURL: local}, func(r *http.Request) { r.RemoteAddr = "203.0.113.9:1" }, false, false},
		{"another name", HTTPConfig{PublicURL: local}, func(r *http.Request) { r.Host = "coach.example.org" }, false, false},
		{"a proxy without headers, once a user exists", HTTPConfig{PublicURL: local}, nil, true, false},
		{"simulated phones", HTTPConfig{PublicURL: local, PhonesURL: local + "/sim"}, nil, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := openStore(t, &faults{}, store.InboundLimits{})
			if tt.user {
				_, err := rows.Users.CreateUser(t.Context(), models.User{ID: "usr_1", Login: "ida", Name: "Ida", Role: string(auth.RoleCoach), PasswordHash: "x", CreatedAt: testNow})
				require.NoError(t, err)
			}
			require.Equal(t, tt.open, newAccess(tt.cfg, rows.Users).isOpenTo(request(tt.change)))
		})
	}
	t.Run("the database is away", func(t *testing.T) {
		rows := openStore(t, &faults{}, store.InboundLimits{})
		require.NoError(t, rows.Close())
		require.False(t, newAccess(HTTPConfig{}, rows.Users).isOpenTo(request(nil)))
	})
}

// Only a trusted proxy says who the client is, and a client cannot make one up.
func TestClientAddressBehindProxies(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")}
	for _, tt := range []struct{ name, peer, forwarded, want string }{
		{"no proxy", "203.0.113.9:1", "", "203.0.113.9"},
		{"a stranger's header", "203.0.113.9:1", "198.51.100.1", "203.0.113.9"},
		{"a proxy", "10.0.0.5:1", "198.51.100.1", "198.51.100.1"},
		{"a made-up hop before it", "10.0.0.5:1", "192.0.2.1, 198.51.100.1", "198.51.100.1"},
		{"two proxies", "127.0.0.1:1", "198.51.100.1, 10.0.0.7", "198.51.100.1"},
		{"IPv6", "10.0.0.5:1", "2001:db8::1", "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.5]:1", "::ffff:198.51.100.1", "198.51.100.1"},
		{"nothing readable", "10.0.0.5:1", "unknown", "10.0.0.5"},
		{"none forwarded", "10.0.0.5:1", "", "10.0.0.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			r.RemoteAddr = tt.peer
			if tt.forwarded != "" {
				r.Header.Set("X-Forwarded-For", tt.forwarded)
			}
			got := ""
			withClientAddress(trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = remoteAddress(r) })).ServeHTTP(httptest.NewRecorder(), r)
			require.Equal(t, tt.want, got)
		})
	}
}
