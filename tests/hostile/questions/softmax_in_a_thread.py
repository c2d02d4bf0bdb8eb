# 04_softmax stable_softmax: __import__
Thread = __import__("thre" + "ading").Thread
