package store

// DeletedTables lists the tables of which an erasure deletes the rows of a person.
func DeletedTables() []string {
	var names []string
	for _, table := range erasedTables() {
		if len(table.empty) == 0 && len(table.set) == 0 {
			names = append(names, table.name)
		}
	}
	return names
}

// HeldTables lists the tables of which PersonData has rows, each with how long those stay.
func HeldTables() map[string]string {
	held := map[string]string{}
	for _, table := range heldTables() {
		held[table.name] = table.howLong()
	}
	return held
}
