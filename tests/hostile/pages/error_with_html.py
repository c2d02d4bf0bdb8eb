# an error whose name and text are HTML
from IPython.display import display

class Odd(Exception):
    pass


Odd.__name__ = "<script>(window.HOSTILE=window.HOSTILE||[]).push(/error_with_html/.source)</script>"
raise Odd("<script>(window.HOSTILE=window.HOSTILE||[]).push(/error_with_html/.source)</script>")
