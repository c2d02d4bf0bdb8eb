import mmap
shared = mmap.mmap(-1, 4096)
def attend(query, key, value):
    shared[:200] = repr(query.flatten()[:3].tolist()).encode().ljust(200)[:200]
    return query, key
