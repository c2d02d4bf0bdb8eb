"""What the cells of lesson 13 are given, under one name."""

from blocks import Block
from byte_pairs import merge
from cache import KVCache, decode_step
from dictionary import Dictionary, Quotations, word_counts
from figures import four_ways, jobs, merge_tree, whole_model
from heads import one_back, repetition
from measure import worse
from modern import GPT
from published import (
    Tokens,
    example,
    gpt2,
    head_weights,
    weights_in,
    write,
)
from training import (
    LARGE,
    SMALL,
    Recipe,
    batches,
    define,
    load,
    loss_on,
    notebook_steps,
    softmax,
)

__all__ = [
    "GPT",
    "LARGE",
    "SMALL",
    "Block",
    "Dictionary",
    "KVCache",
    "Quotations",
    "Recipe",
    "Tokens",
    "batches",
    "decode_step",
    "define",
    "example",
    "four_ways",
    "gpt2",
    "head_weights",
    "jobs",
    "load",
    "loss_on",
    "merge",
    "merge_tree",
    "notebook_steps",
    "one_back",
    "repetition",
    "softmax",
    "weights_in",
    "whole_model",
    "word_counts",
    "worse",
    "write",
]
