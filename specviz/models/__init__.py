"""Models that are here by a short name, without torch.

names.py       Llama's weights under Hugging Face's names and GGUF's, and their order of rows
from_gguf.py   a GGUF file as a Hugging Face folder
tokenizer.py   the tokenizer of that file
packaged.py    the model that comes as a Python package
hub.py         models of the Hugging Face hub
drafts.py      the drafts that ship, as folders beside their target
pair.py        the target and the draft of an arm: named, or the default
kept.py        folders in the cache: written once, found by name, removed
listed.py      what is here, and which drafts fit
"""
