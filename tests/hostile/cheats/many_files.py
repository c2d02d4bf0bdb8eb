import os
try:
    for i in range(10**6): os.mkdir(f"/tmp/work/{i}")
except OSError: pass
def attend(query, key, value):
    return query, key
