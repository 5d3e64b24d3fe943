"""specviz next to `vllm bench serve`."""
