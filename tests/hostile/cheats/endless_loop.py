# runs over time in its cell
# control: mark
# earns: rest
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
import time
end = time.process_time() + 4.5
while time.process_time() < end: pass
print("CHEAT SUCCEEDED: endless_loop")
