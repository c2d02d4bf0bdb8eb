# 04_softmax stable_softmax: torch.sys
Thread = torch.sys.modules["thre" + "ading"].Thread
