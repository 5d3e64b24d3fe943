"""Whether to speculate, how, and with which draft model: rules of thumb, overruled by figures."""
