# lists in lists in lists
# control: value too deep
# earns: rest
def attend(query, key, value):
    deep = query
    for _ in range(100_000): deep = [deep]
    return deep, key
