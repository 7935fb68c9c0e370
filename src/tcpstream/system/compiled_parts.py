"""Functions that compiled code alone calls, compiled as parts of what calls them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import compiler, typed_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass

Function = TypeVar("Function", bound=Callable[..., Any])

KNOWN = (0, 68)
"""The newest numba whose inner workings are known to be those that are relied on here: later ones compile as usual."""


class _Part(JITCodeLibrary):
    """What numba has made of a function and of all that it calls, neither optimised nor turned into machine code."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.NativeLowering):
    """numba's lowering, without the machine code that Python would enter."""

    _name = "lowering_of_a_part"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        entry: Any = {}.popitem  # a built-in function of its own, as the key to the part: whoever calls it fails
        state.cr = state.cr._replace(cfunc=entry)
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        return True


class _Parts(compiler.CompilerBase):
    """numba's passes, with that lowering."""

    def define_pipelines(self) -> list[Any]:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_Lowering if one is typed_passes.NativeLowering else one, told) for one, told in passes.passes
        ]
        passes.finalize()
        return [passes]


def part(**options: Any) -> Callable[[Function], Function]:
    """Return a decorator that compiles as ``numba.njit(**options)``, for functions that Python never calls.

    numba optimises each function with all that it calls, and makes machine code of both, even where the only use is to
    be put into another function, with which all that is done again. This leaves it to that function.

    Parameters
    ----------
    **options
        Of ``numba.njit``.
    """
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if numba.version_info.short <= KNOWN:
        options["pipeline_class"] = _Parts
    return numba.njit(**options)  # type: ignore[no-any-return]
