"""The scripted model without its process, by the name that the tests have for it."""

from leadhand.testing import ScriptedModel as InProcess

__all__ = ["InProcess"]
