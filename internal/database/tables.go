package database

import "gorm.io/gorm/schema"

// Naming gives the tables the names of the schema, without gorm's plurals where
// those are wrong; columns follow gorm's default naming, except that it would
// cut SID in two.
type Naming struct{ schema.NamingStrategy }

// TableName gives the table of a model type.
func (t Naming) TableName(model string) string {
	switch model {
	case "Inbound":
		return "inbound"
	case "Outbox":
		return "outbox"
	case "Audit":
		return "audit"
	case "ScheduleRow":
		return "schedules"
	}
	return t.NamingStrategy.TableName(model)
}

// ColumnName gives the column of a model's field.
func (t Naming) ColumnName(table, field string) string {
	if field == "ProviderSID" {
		return "provider_sid"
	}
	return t.NamingStrategy.ColumnName(table, field)
}
