"""Two or more runs side by side: texts, acceptance, paired differences, configuration."""
