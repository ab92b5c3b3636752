package worker

import (
	"context"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"coachline/models/wire"
)

const attributesTimeout = 30 * time.Second

// ensureSearchAttributes registers the search attributes that are missing in
// the namespace. It is safe to run from every worker at every start. A cluster
// that does not allow it (Temporal Cloud manages them in its own console) must
// have them already; the error lists which are missing.
func ensureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, attributesTimeout)
	defer cancel()
	have, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("listing search attributes of namespace %s: %w", namespace, err)
	}
	missing := map[string]enums.IndexedValueType{}
	for name, typeName := range wire.SearchAttributes() {
		kind, err := enums.IndexedValueTypeFromString(typeName)
		if err != nil {
			return fmt.Errorf("search attribute %s: %w", name, err)
		}
		if _, ok := have.GetCustomAttributes()[name]; !ok {
			missing[name] = kind
		}
	}
	if len(missing) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if err != nil {
		return fmt.Errorf("adding search attributes %v to namespace %s (add them by hand where the cluster does not allow it): %w", missing, namespace, err)
	}
	return nil
}
