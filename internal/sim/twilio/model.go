package twilio

import (
	"net/http"
	"slices"
	"sync"

	"coachline/internal/sim/openai"
)

// newModel is the scripted model on the server's own address; faults of the
// target model hit its calls.
func (s *Server) newModel() *openai.Server {
	return openai.New(openai.Config{
		Now:     s.cfg.Now,
		OnUsage: s.usage.add,
		OnCall: func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
			if f, hit := s.faults.takeFault(targetModel, ""); hit {
				next = s.serveFault(f, refuseAnswering, next)
			}
			next(w, r)
		},
		Answer: func(body []byte) (openai.Answer, error) {
			answer, err := openai.FollowScript(body)
			if err != nil {
				return answer, err //nolint:wrapcheck // the model's own refusal
			}
			if err := s.network.noteScript(); err != nil {
				s.cfg.Logger.Error("simulator cannot record that the script answered", "error", err)
				return answer, err
			}
			return answer, nil
		},
	})
}

// usage is what the model would charge for since the server's start.
type usage struct {
	mu    sync.Mutex
	calls []openai.Usage
}

func (u *usage) add(call openai.Usage) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls = append(u.calls, call); len(u.calls) > maxUsage {
		u.calls = u.calls[1:]
	}
}

// maxUsage bounds the calls that are shown.
const maxUsage = 10_000

// showUsage lists the newest calls of the model with what they used, and counts the
// segments of all texts that are kept.
func (s *Server) showUsage(w http.ResponseWriter, _ *http.Request) {
	s.usage.mu.Lock()
	calls := slices.Clone(s.usage.calls)
	s.usage.mu.Unlock()
	out, in := s.network.countSegments()
	writeJSON(w, http.StatusOK, map[string]any{"calls": append([]openai.Usage{}, calls...), "segments_out": out, "segments_in": in})
}

func refuseAnswering(w http.ResponseWriter, f fault) {
	openai.WriteError(w, f.Status, "", "The call was refused as a test asked for.")
}
