# a size that a template writes without quotes
from IPython.display import display

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
display({"image/png": PNG}, metadata={"image/png": {"width": "1 onload=(window.HOSTILE=window.HOSTILE||[]).push(/width_of_a_picture/.source)"}}, raw=True)
