"""Options in sections: each stands in one of them, under a heading that help prints."""

import click
import pytest

from tcpstream.cli.app import group
from tcpstream.cli.sections import ELSEWHERE, SECTIONS

OPTIONS = [
    (command.name, option)
    for command in group.commands.values()
    for option in command.params
    if isinstance(option, click.Option) and not option.hidden
]


def sections(text):
    """The text below each heading of help."""
    found, title = {}, ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line[:-1]
            found[title] = ""
        elif title:
            found[title] += line + "\n"
    return found


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=lambda one: getattr(one, "name", one))
def test_every_option_is_in_one_section(command, option):
    titles = [title for title, names in SECTIONS.items() if option.name in names]
    assert len(titles) == 1 or option.name in ELSEWHERE.get(command, {})


@pytest.mark.parametrize("command", group.commands)
def test_help_has_them_in_their_order(run, command):
    found = sections(run(f"{command} --help").out)
    assert list(found) == [title for title in SECTIONS if title in found]
    assert found["Output"].rstrip().splitlines()[-1].lstrip().startswith("-h, --help ")
    for option in (option for name, option in OPTIONS if name == command):
        assert sum(f"  {option.opts[0]}" in text for text in found.values()) == 1


def test_what_delay_asks_stands_apart_from_the_path(run):
    found = sections(run("delay --help").out)
    assert list(found) == ["Path", "Sender", "Video", "Question", "Output"]
    for title, option in {"Path": "--loss", "Sender": "--rto", "Video": "--rate", "Question": "--target"}.items():
        assert f"\n  {option} " in "\n" + found[title]


def test_a_command_may_have_an_option_in_another_section(run):
    assert "--start" in sections(run("play --help").out)["Player"]
    found = sections(run("transfer --help").out)
    assert "Player" not in found
    assert "--start" in found["Question"]


@pytest.mark.parametrize("command", group.commands)
def test_texts_of_all_sections_begin_in_one_column(run, command):
    lines = run(f"{command} --help").out.splitlines()
    begins = {len(line) - len(line[2:].split("  ", 1)[1].lstrip()) for line in lines
              if line.startswith("  -") and "  " in line[2:]}  # fmt: skip
    assert len(begins) == 1
