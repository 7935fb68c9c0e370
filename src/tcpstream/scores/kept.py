"""What was solved, kept in a file as it comes: a line of JSON for each case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from os import PathLike
from pathlib import Path as FilePath
from threading import Lock
from typing import Any

from .._version import __version__
from ..errors import InputError, cause
from ..system.log import appending, whole_lines
from .one_session import Solved
from .question import Case, Question

BEGIN = b'{"version"'
"""Of each line, also of one that was cut off."""


class Store:
    """Answers of cases to one question; without a file they are kept in memory.

    Parameters
    ----------
    question : Question
    table : str
        What tells the table of sessions from others.
    file : path-like, optional
        Goes on where an interruption left it: a last line that was cut off is solved anew. Answers to other questions,
        and of other versions, stay in it and are not used.

    Raises
    ------
    InputError
        For a file that cannot be read, or holds something else.
    """

    def __init__(self, question: Question, table: str = "", file: str | PathLike[str] | None = None) -> None:
        self._asked: dict[str, Any] = {"version": __version__, "question": question.to_dict()}
        self._file = None if file is None else FilePath(file)
        self._lock = Lock()
        self._answers: dict[Case, Solved] = {}
        self._table, self._others = table, set[Case]()
        if self._file is not None and self._file.exists():
            self._read(self._file)

    def others(self) -> Iterator[tuple[Case, Solved]]:
        """Give the cases that were solved for other tables, and their answers."""
        return ((case, self._answers[case]) for case in self._others if self._answers[case].whole)

    def get(self, case: Case) -> Solved | None:
        """Return what is known of a case."""
        return self._answers.get(case)

    def put(self, case: Case, answers: Solved) -> None:
        """Keep the answers of a case; what took too long is not kept, as another call may give it more time."""
        with self._lock:
            if case in self._answers and not answers.whole:
                return
            self._answers[case] = answers
            if self._file is None or "time limit" in answers.refused:
                return
            with appending(self._file, "write") as append:
                append(self._asked | {"table": self._table, "case": asdict(case), "answers": asdict(answers)})

    def _read(self, file: FilePath) -> None:
        try:
            lines, begin = whole_lines(file), file.read_bytes()[: len(BEGIN)]
        except OSError as error:
            raise InputError(f"cannot read {file}: {cause(error)}") from None
        if not BEGIN.startswith(begin) and not lines:
            raise _other(file, 1)
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                case, answers = Case(**found["case"]), Solved(**found["answers"])
            except (ValueError, TypeError, KeyError, RecursionError):
                raise _other(file, number) from None
            if {name: found.get(name) for name in self._asked} == self._asked:
                if case not in self._answers or answers.whole:
                    self._answers[case] = answers
                if found.get("table") != self._table:
                    self._others.add(case)
        with appending(file, "write"):  # it is what it should be: a line that was cut off may go
            pass


def _other(file: FilePath, line: int) -> InputError:
    return InputError(f"{file}, line {line}: this is not what solved sessions are kept as; move the file away")
