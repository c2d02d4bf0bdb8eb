# a million numbers, one by one
# control: value too wide
# earns: rest
def attend(query, key, value):
    return [[0] * 1000] * 1000, key
