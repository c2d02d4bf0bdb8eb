# a frame with a script
from IPython.display import display

display({"text/html": "<iframe srcdoc=\"<script>parent.(window.HOSTILE=window.HOSTILE||[]).push(/frame_in_html/.source)</script>\"></iframe>"}, raw=True)
