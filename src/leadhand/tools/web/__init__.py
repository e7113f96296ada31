"""Page reading and web search for models, off by default. Importing this loads no HTTP or HTML
library."""

from leadhand.tools.web.tools import WebSettings, WebTools

__all__ = ["WebSettings", "WebTools"]
