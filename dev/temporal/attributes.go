package temporal

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"coachline/models/wire"
)

// attributes are the search attributes of the Participant workflow.
var attributes = func() map[string]enumspb.IndexedValueType {
	types := map[string]enumspb.IndexedValueType{}
	for name, typeName := range wire.SearchAttributes() {
		// An unknown name has the value 0, which the server refuses.
		types[name], _ = enumspb.IndexedValueTypeFromString(typeName)
	}
	return types
}()

// ensureAttributes adds those that a namespace of an older build does not have
// yet: attributes are mapped to columns when a namespace is created.
func ensureAttributes(ctx context.Context, address, namespace string) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: silentLogger{}})
	if err != nil {
		return fmt.Errorf("reaching the Temporal server: %w", err)
	}
	defer c.Close()
	op := c.OperatorService()
	have, err := op.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("listing search attributes: %w", err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, kind := range attributes {
		if _, ok := have.CustomAttributes[name]; !ok {
			missing[name] = kind
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = op.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	var exists *serviceerror.AlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("adding search attributes: %w", err)
	}
	return nil
}
