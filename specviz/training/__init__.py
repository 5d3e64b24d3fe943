"""Drafts for a target of your own: `specviz train`.

prompts.py     prompts to train on, prompts held out
target.py      the embedded engine's target over many texts at once
answers.py     the target's answers, which are what a draft learns from
frozen.py      what heads take from the target
lesson.py      hidden states and distributions of a group of answers
layer.py       the layer of EAGLE heads
heads.py       Medusa, EAGLE and EAGLE-3
draft.py       a draft model of some of the target's layers
losses.py      the distance from the target
fit.py         the training loop
workers.py     threads that compute alone
export.py      folders as vLLM, SpecForge and Speculators have them
measure.py     acceptance on held-out prompts, by the embedded engine
train.py       all of it in order

Speculators and SpecForge train too, and for large targets are the ones to use. Both take the
target's hidden states from a server on a GPU (vLLM, SGLang), which is why they do not serve here: a
small target is trained for on the machine that it runs on, with a CPU.
"""
