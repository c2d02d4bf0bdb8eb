# 04_softmax stable_softmax: sys.modules
Thread = torch.sys.modules["thre" + "ading"].Thread
