# markdown with a handler
from IPython.display import display

display({"text/markdown": '<img src="data:," onerror="(window.HOSTILE=window.HOSTILE||[]).push(/handler_in_markdown/.source)">'}, raw=True)
