# a picture that is none
from IPython.display import display

display({"image/png": 'x" onerror="(window.HOSTILE=window.HOSTILE||[]).push(/content_of_a_picture/.source)" x="'}, raw=True)
