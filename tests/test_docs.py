"""README and docs say what is there, all of it, and their examples run."""

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import click
import pytest

from api.app import create_app
from cli.main import cli
from unjam.packs.fields import Defaults
from unjam.packs.read import read_pack
from unjam.settings import Settings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md")])


def blocks(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Each fenced block of the language: what follows the language's name, and the content."""
    yield from re.findall(rf"^```{language}\b ?(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE)


def leaf_commands(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(command)
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaf_commands(below, (*words, name))


COMMANDS = dict(leaf_commands(cli, ("unjam",)))
PACKS = [
    pytest.param(language, info, content, id=f"{language} {number}")
    for language in ("jsonl", "csv", "text", "lines")
    for number, (info, content) in enumerate(blocks((DOCS / "formats.md").read_text(), language))
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    page = (DOCS / "cli.md").read_text()
    assert f"### {name}\n" in page
    for parameter in COMMANDS[name].params:
        for option in parameter.opts:
            if option.startswith("--") and option != "--help":
                assert re.search(rf"{option}(?![\w-])", page), f"{name} {option} is not documented"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str) -> None:
    text = COMMANDS[name].help
    assert text
    assert name in text
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option) and parameter.name != "help":
            assert parameter.help or parameter.show_default, f"{name} {parameter.name}"


def test_no_command_and_no_option_is_made_up() -> None:
    usage = re.compile(r"(?:^|[(|] ?)(unjam (?:db |keys |tables |atlas )?[a-z]+)([^\n#|>)]*)", re.MULTILINE)
    for page in PAGES:
        for _, script in blocks(page.read_text(), "sh"):
            for command, arguments in usage.findall(script):
                assert command in COMMANDS, page.name
                options = {option for parameter in COMMANDS[command].params for option in parameter.opts}
                assert set(re.findall(r"(?<=\s)--[a-z-]+", arguments)) <= options, f"{page.name}: {command}{arguments}"


def test_every_setting_is_documented_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `UNJAM_(\w+)` \| (.*?) \|", (DOCS / "settings.md").read_text(), re.MULTILINE))
    assert list(rows) == [name.upper() for name in Settings.model_fields]
    for name, field in Settings.model_fields.items():
        if field.default is not None and field.default_factory is None:
            assert rows[name.upper()] == f"`{field.default}`"


def test_every_variable_in_the_docs_exists() -> None:
    compose = set(re.findall(r"\$\{(UNJAM_\w+)", (ROOT / "docker-compose.yml").read_text()))
    known = {f"UNJAM_{name.upper()}" for name in Settings.model_fields} | compose
    known |= {"UNJAM_PORTABLE", "UNJAM_SHARED_DATA", "UNJAM_TABLES"}
    for page in PAGES:
        assert set(re.findall(r"UNJAM_\w+", page.read_text())) <= known, page.name


def test_every_endpoint_is_documented() -> None:
    page = (DOCS / "api.md").read_text()
    documented = set(re.findall(r"^\| `(GET|POST|DELETE|PUT) (/\S*)` \|", page, re.MULTILINE))
    paths = create_app(Settings()).openapi()["paths"]
    served = {(method.upper(), path) for path, operations in paths.items() for method in operations}
    assert documented == served
    for method, path in served:
        if path.startswith("/v1"):
            assert f"### {method} {path}\n" in page


@pytest.mark.parametrize(("language", "info", "content"), PACKS)
def test_every_pack_of_the_formats_page_is_read(language: str, info: str, content: str) -> None:
    family = info.removeprefix("family=") or None
    for format in (language, None):
        entries = list(read_pack(io.BytesIO(content.encode()), format=format, defaults=Defaults(family)))
        assert entries
        assert [entry.error for entry in entries if entry.error] == []


def test_every_example_is_documented() -> None:
    page = (DOCS / "formats.md").read_text()
    for path in (ROOT / "examples").iterdir():
        named = re.search(rf"unjam solve examples/{re.escape(path.name)}(?![\w.])", page)
        assert named or (path.name == "run" and "examples/run" in README), f"{path.name} is not documented"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_quick_start_is_two_commands() -> None:
    _, first = next(blocks(README, "sh"))
    commands = [line.partition("#")[0].strip() for line in first.splitlines()]
    assert commands == ["examples/run", "tests/run"]
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == f"exec {commands[1]}"


def test_the_python_example_of_the_readme_runs() -> None:
    ((_, example),) = blocks(README, "python")
    output = io.StringIO()
    with redirect_stdout(output):
        exec(compile(example, "README.md", "exec"), {})
    expected = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    assert output.getvalue().splitlines()[: len(expected)] == expected == ["optimal 81"]
