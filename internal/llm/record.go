package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"

	"coachline/internal/calls"
	"coachline/models"
)

// record tells the log of the context of a call that its server may charge for. A
// request that the server refused, and one for which no connection was made, costs
// nothing. An answer that came and cannot be used is charged for,
// one that did not come may be. err is why no whole answer came.
func (x *exchange) record(ctx context.Context, call calls.Call, f *fault, err error) {
	switch {
	case f == nil:
	case x.isRefused(), isUnsent(err):
		return
	case err == nil:
		call = x.readCall(call.Stage, call.Asked)
	default:
		call.Lost, call.Model, call.Usage = true, "", models.Usage{}
	}
	calls.Record(ctx, call)
}

// isRefused reports whether the model's own server answered with an error's status.
// A gateway that lost its server does not know what became of the call.
func (x *exchange) isRefused() bool {
	if x.res == nil || x.res.StatusCode < http.StatusBadRequest {
		return false
	}
	return x.res.StatusCode != http.StatusBadGateway && x.res.StatusCode != http.StatusGatewayTimeout
}

// isUnsent reports whether no connection to the server was made.
func isUnsent(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// readCall reads what an answer counted; lost where that cannot be read.
func (x *exchange) readCall(stage models.StageName, asked string) calls.Call {
	var in answer
	if json.Unmarshal(x.body, &in) != nil {
		return calls.Call{Stage: stage, Asked: asked, Lost: true}
	}
	return calls.Call{Stage: stage, Asked: asked, Model: string(in.Model), Usage: in.countUsage()}
}
