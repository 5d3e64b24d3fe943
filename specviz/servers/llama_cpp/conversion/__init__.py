"""A Hugging Face Llama folder as a GGUF file, without torch.

gguf_file.py   one folder into one file
vocabulary.py  the tokenizer in GGUF's words
weights.py     the tensors, as they are stored
cache.py       files written once per model, for servers that are started here
"""
