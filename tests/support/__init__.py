"""Helpers of the tests: samples, stand-ins, servers, and the apps and programs that tests start."""
