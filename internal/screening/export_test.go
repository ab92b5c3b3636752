package screening

// ThresholdsOf returns the thresholds that the training program chose for a language.
func ThresholdsOf(language string) Thresholds { return model().Thresholds[language] }
