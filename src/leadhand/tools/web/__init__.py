"""Page reading and web search for models, off by default. Loads no HTTP or HTML library."""

from leadhand.tools.web.tools import WebSettings, WebTools

__all__ = ["WebSettings", "WebTools"]
