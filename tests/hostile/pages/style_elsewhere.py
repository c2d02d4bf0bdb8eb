# a style that is loaded from elsewhere
from IPython.display import display

display({"text/html": "<style>@import url(http://127.0.0.1:9/hostile.css)</style><p style='background:url(http://127.0.0.1:9/hostile.gif)'>x</p>"}, raw=True)
