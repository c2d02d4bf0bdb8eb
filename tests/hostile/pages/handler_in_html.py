# an event handler
from IPython.display import display

display({"text/html": '<img src="data:," onerror="(window.HOSTILE=window.HOSTILE||[]).push(/handler_in_html/.source)">'}, raw=True)
