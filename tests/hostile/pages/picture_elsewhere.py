# a picture that is loaded from elsewhere
from IPython.display import display

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
display({"image/png": PNG}, metadata={"filenames": {"image/png": "http://127.0.0.1:9/hostile.png"}}, raw=True)
display({"text/html": '<img src="http://127.0.0.1:9/hostile.png">'}, raw=True)
