# LaTeX with a handler
from IPython.display import display

display({"text/latex": '<img src="data:," onerror="(window.HOSTILE=window.HOSTILE||[]).push(/handler_in_latex/.source)">'}, raw=True)
