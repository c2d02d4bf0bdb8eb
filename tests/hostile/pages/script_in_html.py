# a script
from IPython.display import display

display({"text/html": "<script>(window.HOSTILE=window.HOSTILE||[]).push(/script_in_html/.source)</script>"}, raw=True)
