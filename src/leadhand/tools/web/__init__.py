"""Page reading and web search for models, off unless the environment asks for them.

See `WebSettings.from_environment`. Importing this loads no HTTP or HTML library.
"""

from leadhand.tools.web.settings import WebSettings
from leadhand.tools.web.tools import WebTools

__all__ = ["WebSettings", "WebTools"]
