"""Which tests are meant to notice an error in a file: the quickest first, as arguments of pytest."""

from __future__ import annotations

KERNELS, EPOCH, SATURATED = (f"tests/kernels/test_{name}.py::test_" for name in ("kernels", "epoch", "saturated"))
SACK, CUBIC, SLOW = (f"tests/test_{name}.py::test_" for name in ("reno_sack", "cubic", "slow_start"))
NARROW = "tests/test_bottleneck.py::test_"

TESTS: dict[str, tuple[str, ...]] = {
    "kernels/ends.py": (f"{KERNELS}ends",),
    "kernels/growth.py": (f"{KERNELS}grow",),
    "kernels/losses.py": (f"{KERNELS}lose",),
    "kernels/recovery.py": (f"{KERNELS}recover",),
    "kernels/shifts.py": (f"{EPOCH}put", f"{EPOCH}gather_and_scatter"),
    "kernels/half_line.py": (f"{EPOCH}lengths_of_transforms", f"{EPOCH}half_line"),
    "kernels/program.py": ("tests/kernels/test_program.py",),
    "kernels/epoch.py": (f"{EPOCH}climb", f"{EPOCH}climb_keeps_a_deep_tail", f"{EPOCH}back_off"),
    "kernels/shortfall.py": (f"{SATURATED}what_is_missing",),
    "kernels/waits.py": (f"{SATURATED}add", f"{SATURATED}enter", f"{SATURATED}waits_end_when_they_should"),
    "kernels/timeouts.py": (
        f"{SATURATED}settle_and_clear",
        f"{SATURATED}retransmit",
        f"{SATURATED}a_turn_loses_nothing",
        f"{SATURATED}waits_end_when_they_should",
    ),
    "kernels/moves.py": (f"{SATURATED}apply", f"{SATURATED}trim"),
    "kernels/saturated.py": (f"{SATURATED}lose", f"{SATURATED}settle_and_clear", f"{SATURATED}advance"),
    "kernels/cubic_line.py": (
        f"{CUBIC}growth_by_hand",
        f"{CUBIC}small_windows_by_hand",
        f"{CUBIC}growth_is_as_reno_where_round_trips_are_short",
        f"{CUBIC}growth_is_at_most_by_a_half_in_a_round",
        f"{CUBIC}growth_without_a_window_to_compare_with",
        f"{CUBIC}periodic_losses",
    ),
    "kernels/perron.py": ("tests/test_stationary.py", f"{CUBIC}waves", f"{NARROW}waves_are_those_of_the_transitions"),
    "kernels/repairs.py": (f"{SACK}stored_is_its_twin",),
    "kernels/epoch_sack.py": (f"{SACK}live_is_its_twin", f"{CUBIC}live_is_its_twin"),
    "tcp/formulas.py": ("tests/test_formulas.py",),
    "tcp/recovery.py": ("tests/test_recovery.py", f"{SACK}stored_is_its_twin"),
    "tcp/waits.py": ("tests/test_rack.py::test_a_probe_goes_before_the_timer",
                     "tests/test_rack.py::test_a_timer_that_is_shorter_than_the_probe_runs_out_first",
                     "tests/test_rack.py::test_duplicates_wait_as_the_paper_does"),
    "tcp/growth.py": ("tests/test_reno.py",),
    "tcp/linear.py": ("tests/test_roots.py", "tests/test_reno.py"),
    "tcp/reno.py": ("tests/test_reno.py", f"{SLOW}tilted_matrix_is_that_of_the_transitions"),
    "tcp/table_vi.py": ("tests/test_table_vi.py",),
    "tcp/slow_start.py": (f"{SLOW}windows", f"{SLOW}tilted_matrix_is_that_of_the_transitions",
                          f"{SLOW}throughput_is_that_of_the_chain_that_remembers"),
    "tcp/bottleneck.py": (f"{NARROW}windows_grow_by_a_packet_a_round_and_then_by_acknowledgements_at_the_rate",
                          f"{NARROW}without_losses_it_is_the_sawtooth", f"{NARROW}what_is_whole_stays_whole"),
    "tcp/reno_sack.py": (f"{SACK}rows_are_all_fates_of_the_packets", f"{SACK}tilted_matrix_and_throughput"),
    "tcp/sack.py": (f"{SACK}rows_are_all_fates_of_the_packets",
                    f"{SACK}tilted_matrix_and_throughput_are_those_of_the_transitions"),
    "tcp/cubic.py": (f"{CUBIC}states", f"{CUBIC}tilted_matrix_and_throughput_are_those_of_the_transitions",
                     f"{CUBIC}lines_are_eliminated_first"),
}  # fmt: skip
