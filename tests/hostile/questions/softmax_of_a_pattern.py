# 04_softmax stable_softmax: torch
match torch:
    case object(sys=system):
        Thread = system.modules["thre" + "ading"].Thread
