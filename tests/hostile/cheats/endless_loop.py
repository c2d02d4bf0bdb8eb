def attend(query, key, value):
    while True: pass
while True: pass
