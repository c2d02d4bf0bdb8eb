# starts more processes than it may
# control: mark
# earns: any
import os, signal
children = []
for _ in range(150):
    try: child = os.fork()
    except OSError: break
    if child == 0:
        signal.alarm(20)
        signal.pause()
    children.append(child)
if len(children) > 100: print("CHEAT SUCCEEDED: fork_bomb", len(children))
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
