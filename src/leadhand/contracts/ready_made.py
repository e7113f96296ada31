"""The tools that come with leadhand, by name. None of them is loaded here."""

from collections.abc import Mapping

READY_MADE_TOOLS: Mapping[str, str] = {
    "list_files": "Lists the files that were handed in, with their kind and size.",
    "search_files": "Searches the text of the files that were handed in.",
    "read_file": "Reads a file that was handed in: text, Markdown, HTML, PDF or DOCX.",
    "list_tables": "Lists the tables that were handed in, with their columns.",
    "query": "Answers a SQL query over the tables that were handed in.",
    "calculate": "Computes an arithmetic expression.",
    "search_web": "Searches the web, where that is configured.",
    "read_page": "Reads a web page, where that is configured.",
}
"""The name of each tool, and what it does in one line."""
