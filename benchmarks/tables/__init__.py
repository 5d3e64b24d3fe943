"""The measured tables of README.md and docs/."""
