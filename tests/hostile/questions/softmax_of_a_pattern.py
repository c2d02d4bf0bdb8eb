# 04_softmax stable_softmax: case
match torch:
    case object(sys=system):
        Thread = system.modules["thre" + "ading"].Thread
