"""What benchmarks and tests start: the app, a browser, the suites of faults."""
