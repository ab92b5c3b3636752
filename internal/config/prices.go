package config

import (
	"fmt"

	"coachline/internal/prices"
)

const pricesFile = "COACH_PRICES_FILE"

// loadPrices reads the price list where one is named.
func (c *Costs) loadPrices() []error {
	if c.PricesFile == "" {
		return nil
	}
	content, err := readLimited(c.PricesFile)
	if err == nil {
		c.Prices, err = prices.Parse(content)
	}
	if err != nil {
		return []error{fmt.Errorf("%s: %w; want a file like deploy/prices.example.json", pricesFile, err)}
	}
	return nil
}
