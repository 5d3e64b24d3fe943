"""What tools call acceptance: definitions, their figures, and why two of them differ."""
