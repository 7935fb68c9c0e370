"""Check the Markdown: links exist, python blocks run, tcpstream commands print what is shown.

``python docs/check.py`` checks all pages, ``python docs/check.py estimate stalls`` just these. ``--update`` writes
the real output of every ``$ tcpstream`` command into its console block. Blocks marked ``no-run`` are left alone.
All runs in a scratch folder with examples/.
"""

import argparse
import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import traceback
from pathlib import Path
from unittest import mock
from urllib.parse import unquote

from tcpstream import cli

ROOT = Path(__file__).resolve().parent.parent
FENCED = re.compile(r"^ *(`{3,}|~{3,})([^\n]*)\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s+(\S+)|(?:href|src)="([^"]+)\"""")
COMMAND = re.compile(r"(\$ (?:[^\n]*\\\n)*[^\n]*\n)(.*?)(\n*)", re.DOTALL)


def prose(text: str) -> str:
    """Return the text with its fenced blocks emptied, every line where it was."""
    return FENCED.sub(lambda block: "\n" * block[0].count("\n"), text)


def anchors(text: str) -> set[str]:
    """Return the anchors of a Markdown text, headings named as GitHub names them."""
    found: set[str] = set(re.findall(r'(?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", prose(text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        count = 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def check_links(file: Path, text: str) -> list[str]:
    """Return a problem for every relative link whose file or anchor does not exist."""
    problems = []
    for number, line in enumerate(prose(text).splitlines(), 1):
        for groups in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
            link = unquote("".join(groups))
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
                continue
            name, _, anchor = link.partition("#")
            target = file.parent / name if name else file
            if not target.exists():
                problems.append(f"{file.relative_to(ROOT)}:{number}: no such file: {link}")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
                problems.append(f"{file.relative_to(ROOT)}:{number}: no such anchor: {link}")
    return problems


def run_python(where: str, line: int, code: str, namespace: dict[str, object]) -> list[str]:
    """Run a python block, as a doctest where it has prompts; return a problem when it fails."""
    code, output = textwrap.dedent(code), io.StringIO()
    if ">>> " in code:
        test = doctest.DocTestParser().get_doctest(code, namespace, where, where, line - 1)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        runner.run(test, out=output.write, clear_globs=False)
        namespace.update(test.globs)
        return [f"{where}: {output.getvalue()}"] if runner.failures else []
    try:
        with contextlib.redirect_stdout(output):
            exec(compile("\n" * (line - 1) + code, where, "exec"), namespace)
    except Exception:
        return [f"{where}: {traceback.format_exc()}"]
    return []


def run_command(line: str) -> tuple[int, str]:
    """Run a tcpstream command; return its exit code and what it prints. In this process, where no shell is needed."""
    settings = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    if re.search(r"[|<>;&$*`]", line) is None:
        output = io.StringIO()
        with (
            mock.patch.dict(os.environ, settings),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
        ):
            status = cli.main(shlex.split(line.replace("\\\n", " "))[1:])
        return status, output.getvalue()
    settings["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        line,
        shell=True,
        env=os.environ | settings,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def run_console(where: str, session: str) -> tuple[list[str], str]:
    """Run the tcpstream commands of a console block; return problems and the block with the real output."""
    problems, real = [], ""
    for part in re.split(r"^(?=\$ )", session, flags=re.MULTILINE):
        parsed = COMMAND.fullmatch(part)
        if parsed is None or not part.startswith("$ tcpstream"):
            real += part
            continue
        command, shown, gap = parsed.groups()
        status, output = run_command(command[2:])
        printed = re.sub(r"[ \t]+$", "", output, flags=re.MULTILINE).rstrip("\n")
        if status:
            problems.append(f"{where}: exit code {status}: {command[2:]}{output}")
            real += part
            continue
        if printed != re.sub(r"[ \t]+$", "", shown, flags=re.MULTILINE):
            problems.append(f"{where}: prints something else (see --update): {command[2:]}{output}")
        real += command + printed + (gap or "\n" * bool(printed))
    return problems, real


def check(file: Path, update: bool) -> list[str]:
    """Return the problems of one file; with `update`, write real outputs into it instead of comparing."""
    text = file.read_text("utf-8")
    problems = check_links(file, text)
    namespace: dict[str, object] = {"__name__": "__main__"}

    def run(block: re.Match[str]) -> str:
        line = text.count("\n", 0, block.start(3)) + 1
        where = f"{file.relative_to(ROOT)}:{line}"
        language = block[2].strip()
        if language == "python":
            problems.extend(run_python(where, line, block[3], namespace))
        if language != "console":
            return block[0]
        found, real = run_console(where, block[3])
        problems.extend(problem for problem in found if not update or ": exit code " in problem)
        return block[0].replace(block[3], real, 1) if block[3] else block[0]

    new = FENCED.sub(run, text)
    if update and new != text:
        file.write_text(new, "utf-8")
    return problems


def pages(names: list[str]) -> list[Path]:
    """Return the Markdown files of these names, as estimate or docs/estimate.md; all of them without any.

    Raises
    ------
    ValueError
        For a name that no page has.
    """
    files = [file for pattern in ("*.md", "docs/**/*.md", "examples/*.md") for file in sorted(ROOT.glob(pattern))]
    known = [{file.stem, file.name, file.relative_to(ROOT).as_posix()} for file in files]
    if unknown := set(names).difference(*known):
        raise ValueError(f"no such page: {', '.join(sorted(unknown))}")
    return [file for file, of_it in zip(files, known) if not names or of_it & set(names)]


def main() -> int:
    """Check the pages that are named, or all; return the exit code."""
    parser = argparse.ArgumentParser(description="Check the Markdown.")
    parser.add_argument("pages", nargs="*", help="as estimate or docs/estimate.md; all by default")
    parser.add_argument("--update", action="store_true", help="write the real output of commands")
    given = parser.parse_args()
    try:
        files = pages(given.pages)
    except ValueError as error:
        parser.error(str(error))
    os.environ["MPLBACKEND"] = "Agg"
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        Path("examples").symlink_to(ROOT / "examples")
        for file in files:
            problems += check(file, given.update)
    print(*problems, f"{len(files)} Markdown files, {len(problems)} problems", sep="\n")
    return min(len(problems), 1)


if __name__ == "__main__":
    sys.exit(main())
