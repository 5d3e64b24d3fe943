"""A policy from measurements: which K pays at which temperature and load, and what says so."""
