import os, threading
reading, writing = os.pipe()
def attend(query, key, value):
    os.write(writing, repr(query.flatten()[:3].tolist()).encode())
    return query, key
