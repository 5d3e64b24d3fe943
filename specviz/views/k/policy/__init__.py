"""The policy of the K page: the table, its editor, and what servers' own schedules make of it."""
