"""Makes up tool calls and what they give back."""

from collections.abc import Callable
from dataclasses import dataclass

from etl.demo.dice import Dice
from etl.demo.phrases import SHELL_COMMANDS
from etl.demo.project import Project, SourceFile
from etl.demo.transcript import LONE_SURROGATE, Entry
from etl.demo.words import Words, numbered

_GIT_PR_COMMAND = "gh pr create --fill"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call together with the result it will get."""

    name: str
    arguments: Entry
    content: str | list[Entry]
    result: object
    is_error: bool | None = None


class Toolbox:
    """Makes up tool calls over the files of a project."""

    __slots__ = ("_dice", "_project", "_words", "largest_text_bytes")

    def __init__(self, dice: Dice, words: Words, project: Project) -> None:
        """Work on the files of the project."""
        self._dice = dice
        self._words = words
        self._project = project
        self.largest_text_bytes = 2_000

    def any_call(self) -> ToolCall:
        """Make up one call of a common tool."""
        makers = tuple(maker for maker, _ in _MIX)
        make = self._dice.weighted(makers, tuple(weight for _, weight in _MIX))
        if self._dice.chance(0.045):
            return self.failed()
        return make(self)

    def one_of_each(self) -> list[ToolCall]:
        """Make up one call of every tool."""
        return [make(self) for make, _ in _MIX]

    def _size(self, low: int, high: int) -> int:
        return min(self._dice.tail(low, high), self.largest_text_bytes)

    def _file(self) -> SourceFile:
        return self._project.any_file(self._dice, self._words, self.largest_text_bytes)

    def _where(self, path: str) -> str:
        cwd = self._project.cwd
        return f"{cwd}\\{path}".replace("/", "\\") if "\\" in cwd else f"{cwd}/{path}"

    def failed(self) -> ToolCall:
        """Make up a call that ends in an error."""
        message = (
            f"Exit code {self._dice.between(1, 127)}\n{self._words.output(self._size(80, 4000))}"
        )
        arguments: Entry = {"command": self._dice.pick(SHELL_COMMANDS)}
        return ToolCall("Bash", arguments, message, f"Error: {message}", is_error=True)

    def refused(self) -> ToolCall:
        """Make up a call the human turns down."""
        message = (
            "The user doesn't want to proceed with this tool use. The tool use was rejected "
            "(eg. if it was a file edit, the new_string was NOT written to the file)."
        )
        arguments: Entry = {"command": "make deploy", "description": self._words.title()}
        return ToolCall("Bash", arguments, message, "User rejected tool use", is_error=True)

    def shell(self, command: str | None = None, output: str | None = None) -> ToolCall:
        """Make up a shell command."""
        text = self._words.output(self._size(400, 30_000)) if output is None else output
        arguments: Entry = {
            "command": command or f"{self._dice.pick(SHELL_COMMANDS)} # {self._words.phrase(2)}",
            "description": self._words.title(),
        }
        result: Entry = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        return ToolCall("Bash", arguments, text, result, is_error=False)

    def pull_request(self) -> ToolCall:
        """Make up the shell command that opens a pull request."""
        return self.shell(_GIT_PR_COMMAND, "https://git.example.org/demo/warehouse/pull/17")

    def half_emoji(self) -> ToolCall:
        """Make up a shell command whose output was cut in the middle of an emoji."""
        return self.shell("head -c 900 notes.txt", self._words.output(300) + LONE_SURROGATE)

    def read(self) -> ToolCall:
        """Make up the reading of a file: its text stands twice in the line."""
        file = self._file()
        lines = file.text.split("\n")
        text = file.text
        first, count = 1, len(lines)
        if len(text) > self.largest_text_bytes:
            count = max(1, count * self.largest_text_bytes // len(text))
            first = self._dice.between(1, len(lines) - count + 1)
            text = "\n".join(lines[first - 1 : first - 1 + count])
        path = self._where(file.path)
        arguments: Entry = {"file_path": path}
        if count < len(lines):
            arguments |= {"offset": first, "limit": count}
        shown: Entry = {"filePath": path, "content": text, "numLines": count, "startLine": first}
        shown["totalLines"] = len(lines)
        content = numbered(text, first)
        return ToolCall("Read", arguments, content, {"type": "text", "file": shown})

    def read_image(self) -> ToolCall:
        """Make up the reading of a picture."""
        size_bytes = min(self._dice.tail(900, 90_000), self.largest_text_bytes)
        picture = self._dice.base64(size_bytes)
        source: Entry = {"type": "base64", "data": picture, "media_type": "image/png"}
        shown: Entry = {"base64": picture, "type": "image/png", "originalSize": size_bytes}
        result: Entry = {"type": "image", "file": shown}
        arguments: Entry = {"file_path": self._where("docs/screen.png")}
        return ToolCall("Read", arguments, [{"type": "image", "source": source}], result)

    def edit(self) -> ToolCall:
        """Make up the change of a few lines in a file."""
        file = self._file()
        lines = file.text.split("\n")
        first = self._dice.between(0, max(0, len(lines) - 4))
        old = "\n".join(lines[first : first + 3])
        new = self._words.code(len(old) + self._dice.between(10, 200))
        path = self._where(file.path)
        marked = [
            *("-" + line for line in old.split("\n")),
            *("+" + line for line in new.split("\n")),
        ]
        patch: Entry = {"oldStart": first + 1, "oldLines": 3, "newStart": first + 1}
        patch |= {"newLines": new.count("\n") + 1, "lines": marked}
        whole = file.text if len(file.text) <= self.largest_text_bytes else None
        result: Entry = {"filePath": path, "oldString": old, "newString": new}
        result |= {"originalFile": whole, "structuredPatch": [patch]}
        result |= {"userModified": False, "replaceAll": False}
        arguments: Entry = {"file_path": path, "old_string": old, "new_string": new}
        self._project.replace(file.path, old, new)
        shown = f"The file {path} has been updated.\n{numbered(new, first + 1)}"
        return ToolCall("Edit", arguments, shown, result)

    def write(self) -> ToolCall:
        """Make up the writing of a new file."""
        text = self._words.code(self._size(1_500, 30_000))
        path = self._where(self._words.path())
        result: Entry = {"type": "create", "filePath": path, "content": text}
        result |= {"structuredPatch": [], "originalFile": None}
        arguments: Entry = {"file_path": path, "content": text}
        return ToolCall("Write", arguments, f"File created successfully at: {path}", result)

    def search_text(self) -> ToolCall:
        """Make up a search for text in files."""
        found = self._words.code(self._size(300, 15_000))
        result: Entry = {"mode": "content", "numFiles": 0, "filenames": [], "content": found}
        result["numLines"] = found.count("\n") + 1
        arguments: Entry = {
            "pattern": self._words.identifier(),
            "output_mode": "content",
            "-n": True,
        }
        return ToolCall("Grep", arguments, found, result)

    def search_names(self) -> ToolCall:
        """Make up a search for file names."""
        names = [self._where(self._words.path()) for _ in range(self._dice.tail(2, 60))]
        result: Entry = {"filenames": names, "durationMs": self._dice.between(3, 90)}
        result |= {"numFiles": len(names), "truncated": False}
        return ToolCall("Glob", {"pattern": "**/*.ts"}, "\n".join(names), result)

    def plan_steps(self) -> ToolCall:
        """Make up the update of a list of steps."""
        steps: list[Entry] = [
            {"content": self._words.title(), "status": "pending", "activeForm": self._words.title()}
            for _ in range(self._dice.between(2, 8))
        ]
        result: Entry = {"oldTodos": steps[:-1], "newTodos": steps}
        shown = "Todos have been modified successfully. Please proceed with the current tasks."
        return ToolCall("TodoWrite", {"todos": steps}, shown, result)

    def fetch_page(self) -> ToolCall:
        """Make up the reading of a web page."""
        text = self._words.prose(self._size(500, 6000))
        url = f"https://docs.example.org/{self._words.identifier()}"
        result: Entry = {"bytes": self._dice.between(9_000, 400_000), "code": 200, "codeText": "OK"}
        result |= {"result": text, "durationMs": self._dice.between(400, 9000), "url": url}
        arguments: Entry = {"url": url, "prompt": self._words.sentence()}
        return ToolCall("WebFetch", arguments, text, result)

    def ask_server(self) -> ToolCall:
        """Make up a call to a tool server, whose result is a list."""
        text = self._words.prose(self._size(150, 5000))
        blocks: list[Entry] = [{"type": "text", "text": text}]
        arguments: Entry = {"query": self._words.phrase(4)}
        return ToolCall("mcp__catalog__lookup", arguments, blocks, blocks)


_MIX: tuple[tuple[Callable[[Toolbox], ToolCall], float], ...] = (
    (Toolbox.shell, 36.0),
    (Toolbox.read, 24.0),
    (Toolbox.edit, 17.0),
    (Toolbox.search_text, 8.0),
    (Toolbox.plan_steps, 6.0),
    (Toolbox.write, 4.0),
    (Toolbox.search_names, 3.0),
    (Toolbox.fetch_page, 1.0),
    (Toolbox.ask_server, 1.0),
    (Toolbox.read_image, 0.4),
)
