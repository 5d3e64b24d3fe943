"""A package, so that no `tests` of an installed library is taken for this one."""
