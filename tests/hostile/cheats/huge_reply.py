# a tensor that takes little memory here and gigabytes there
# control: value too large
# earns: rest
import torch
def attend(query, key, value):
    return torch.zeros(1).expand(2**29), torch.zeros(2**25)
