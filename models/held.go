package models

// HeldTable is what one table holds of a person. Its rows are personal data.
type HeldTable struct {
	Name  string              `json:"name" doc:"Name of the table."`
	Holds string              `json:"holds" doc:"What its rows are."`
	Kept  string              `json:"kept" doc:"How long they are kept."`
	Rows  []map[string]string `json:"rows" nullable:"false" doc:"What is set in each row, by the name of the column."`
}
