# a description that ends its quotes
from IPython.display import display

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
display({"image/png": PNG}, metadata={"image/png": {"alt": '" onload="(window.HOSTILE=window.HOSTILE||[]).push(/description_of_a_picture/.source)" x="'}}, raw=True)
