"""How the shipped demo models are made: corpus, tokenizer, training, evaluation, model card.

`train_family` (in `specviz.training.train`) is the way in; nothing else in specviz needs this
package at run time. The models are demonstration models: small enough to train on two CPU cores,
good enough that the techniques of speculative decoding differ on them.
"""
