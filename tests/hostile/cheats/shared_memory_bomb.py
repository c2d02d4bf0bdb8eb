# asks for memory in a way that the limit on private memory does not count
# control: mark
# earns: full
import mmap
try:
    hoard = mmap.mmap(-1, 2 << 30)
    hoard[0] = hoard[-1] = 1
    print("CHEAT SUCCEEDED: shared_memory_bomb")
    hoard.close()
except (OSError, ValueError, MemoryError): pass
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
