# leaves a process behind
# control: process
# earns: full
import ctypes, os, subprocess, sys, time
outlives = "import os, time; open('daemon.pid', 'w').write(str(os.getpid())); outlives = time.sleep(120)"
try: subprocess.Popen([sys.executable, "-c", outlives], start_new_session=True)
except OSError: pass
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    ctypes.CDLL(None).prctl(15, b"outlives", 0, 0, 0)
    with open("second.pid", "w") as file: file.write(str(os.getpid()))
    time.sleep(120)
    os._exit(0)
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights
