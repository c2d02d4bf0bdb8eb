# runs over time in its cell
# control: mark
# earns: rest
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
import time
end = time.monotonic() + 4.5
while time.monotonic() < end: pass
print("CHEAT SUCCEEDED: endless_loop")
