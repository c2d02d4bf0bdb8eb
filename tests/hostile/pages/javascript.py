# JavaScript as an output
from IPython.display import display

display({"application/javascript": "(window.HOSTILE=window.HOSTILE||[]).push(/javascript/.source)"}, raw=True)
