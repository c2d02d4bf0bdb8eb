# asks for more memory than it may have
# control: mark
# earns: full
import torch
try:
    hoard = torch.empty(2 << 30, dtype=torch.uint8)
    print("CHEAT SUCCEEDED: memory_bomb")
    del hoard
except RuntimeError: pass
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
