"""How the shipped demo models are made: corpus, tokenizer, training, evaluation, model card.

`train_family` (in `specviz.training.train`) is the entry point; nothing else in specviz needs this
package at run time. These are demonstration models: small enough to train on two CPU cores, good
enough to show how the methods of speculative decoding differ.
"""
