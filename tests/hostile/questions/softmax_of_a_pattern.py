# 04_softmax stable_softmax: sys.modules
match torch:
    case object(sys=system):
        Thread = system.modules["thre" + "ading"].Thread
