"""Heads on the demo target: Medusa, EAGLE and EAGLE-3, in the formats that vLLM serves.

A head drafts from the target's hidden states instead of reading the text itself. All three are
trained by distillation on the frozen target (`lesson`), measured alike (`evaluate`) and written as
folders (`export`). Inference is elsewhere: in a vLLM server or in `specviz.engines.embedded`.
"""
