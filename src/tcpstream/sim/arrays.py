"""Arrays of a saved run, none of them larger than what its file can hold."""

from __future__ import annotations

import io
import math
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

MOST_BYTES = 4 * 2**30
"""Of an array: a simulation takes no more."""

DENSEST, HEADER = 1032, 65536
"""Deflate makes at most so many bytes of one; and bytes of what is small anyway."""


def array(archive: ZipFile, name: str, kinds: str, dimensions: int) -> NDArray[Any]:
    """Return an array, read only after its size has been found to be true.

    Parameters
    ----------
    archive : zipfile.ZipFile
    name : str
    kinds : str
        Of numbers, or text, as ``numpy.dtype.kind`` has them.
    dimensions : int

    Raises
    ------
    ValueError
        For another kind or shape, or a size that the file cannot hold; and what `zipfile` raises for a damaged file.
    """
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(f"{name} is compressed in another way than deflate")
    if info.file_size > min(MOST_BYTES, DENSEST * info.compress_size + HEADER):
        raise ValueError(f"{name} claims {info.file_size:,} bytes in {info.compress_size:,} of the file")
    data = archive.read(info)
    stream = io.BytesIO(data)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError(f"{name} is of another version than 1.0")
    shape, backwards, dtype = npy.read_array_header_1_0(stream)
    if dtype.kind not in kinds or len(shape) != dimensions or (backwards and dimensions > 1):
        raise ValueError(f"{name} is {dtype} of shape {shape}")
    size = math.prod(shape) * dtype.itemsize
    if size != len(data) - stream.tell():
        raise ValueError(f"{name} claims {size:,} bytes and has {len(data) - stream.tell():,}")
    return np.frombuffer(data, dtype, offset=stream.tell()).reshape(shape)
