"""The console that data is printed on."""

from rich.console import Console


class DataConsole(Console):
    """Stdout. `standard_streams.written` deals with a reader that has gone."""

    def on_broken_pipe(self) -> None:
        """Raise the error as it came, where rich would end the process with a status of its own."""
        raise BrokenPipeError
