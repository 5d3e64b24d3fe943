"""vLLM: starting servers, finding out what one can tell, and turning its stream into steps."""
