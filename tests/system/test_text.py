"""Text files that are none."""

import pytest

from tcpstream.errors import InputError
from tcpstream.system.text import LARGEST_TOML, read_text, read_toml


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe", "is not a text file: it is not UTF-8"),
        (b"a = [1", "is not TOML: Unclosed array"),
        (b"a = " + 3000 * b"[", "is not TOML: its tables or lists are nested too deeply"),
        (b"a = " + 5000 * b"9", "is not TOML: Exceeds the limit"),
        (b"a = 1979-13-41", "is not TOML: "),
        (b"#" * (LARGEST_TOML + 1), "has more than 4 MiB: no more is read of a text"),
    ],
)
def test_what_is_no_toml(tmp_path, data, words):
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InputError, match=words) as error:
        read_toml(tmp_path / "file")
    assert str(error.value).isprintable()


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        read_text(tmp_path)
    with pytest.raises(InputError, match=r"cannot read a\\x00b: no file has such a name"):
        read_text("a\0b")
    with pytest.raises(InputError, match="has more than 16 MiB"):
        read_text("/dev/zero")
