# HTML that is printed
from IPython.display import display

print("<script>(window.HOSTILE=window.HOSTILE||[]).push(/printed_html/.source)</script>")
