# 04_softmax stable_softmax: pickle
import pickle

Thread = pickle.loads(b"cthreading\nThread\n.")
