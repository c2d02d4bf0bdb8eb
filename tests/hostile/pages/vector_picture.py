# a vector picture with a handler
from IPython.display import display

display({"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg" onload="(window.HOSTILE=window.HOSTILE||[]).push(/vector_picture/.source)"></svg>'}, raw=True)
