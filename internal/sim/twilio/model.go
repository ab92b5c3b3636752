package twilio

import (
	"net/http"

	"coachline/internal/sim/openai"
)

// newModel is the scripted model on the server's own address; faults of the
// target model hit its calls.
func (s *Server) newModel() *openai.Server {
	return openai.New(openai.Config{
		Now: s.cfg.Now,
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

func refuseAnswering(w http.ResponseWriter, f fault) {
	openai.WriteError(w, f.Status, "", "The call was refused as a test asked for.")
}
