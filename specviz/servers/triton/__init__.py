"""Triton's OpenAI front end, over its vLLM and TensorRT-LLM back ends; not run against a real one.

metrics.py  its names on /metrics
"""
