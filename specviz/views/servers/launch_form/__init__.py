"""The form that makes a launch command."""
