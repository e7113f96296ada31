"""The service: teams over HTTP. Its libraries are those of the extra `leadhand[web]`."""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.serve.application import app
    from leadhand.serve.principals import Authenticate, Principal
    from leadhand.serve.problems import HttpProblem
    from leadhand.serve.service import ServiceSettings

__all__ = ["Authenticate", "HttpProblem", "Principal", "ServiceSettings", "app"]

__getattr__ = lazy_imports(__name__)
