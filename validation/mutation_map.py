"""Which tests are meant to notice an error in a file: the quickest first, as arguments of pytest; and named mutants."""

from __future__ import annotations

KERNELS, SHIFTS, BACKLOGGED = (f"tests/kernels/test_{name}.py::test_" for name in ("kernels", "shifts", "backlogged"))
EPOCH, SOLVE = "tests/stationary/test_epoch.py::test_", "tests/stationary/test_solve.py::test_"
COARSE = "tests/transient/test_coarse.py::test_"
SACK, CUBIC, SLOW, NARROW, RACK = (
    f"tests/tcp/test_{name}.py::test_" for name in ("reno_sack", "cubic", "slow_start", "bottleneck", "rack")
)
LIVE, STORED, BUFFER, MANY = (f"tests/answers/test_{name}.py::test_" for name in ("live", "stored", "buffer", "many"))
OFF = (
    f"{LIVE}a_stream_that_ends_within_a_round_is_judged_to_its_end",
    f"{LIVE}off_the_lattice_around_one_round_trip",
    f"{LIVE}finite_off_the_lattice_against_fluid_playback",
)

TESTS: dict[str, tuple[str, ...]] = {
    "kernels/rows.py": (f"{KERNELS}ends",),
    "kernels/growth.py": (f"{KERNELS}grow",),
    "kernels/limited_losses.py": (f"{KERNELS}lose",),
    "kernels/recovery.py": (f"{KERNELS}nothing_is_left_over_from_a_longer_row", f"{KERNELS}recover"),
    "kernels/shifts.py": (f"{SHIFTS}put", f"{SHIFTS}gather_and_scatter"),
    "stationary/random_walk.py": ("tests/stationary/test_random_walk.py",),
    "stationary/program.py": ("tests/stationary/test_program.py",),
    "stationary/epoch.py": (f"{EPOCH}climb", f"{EPOCH}climb_keeps_a_deep_tail", f"{EPOCH}back_off"),
    "kernels/shortfall.py": (f"{BACKLOGGED}what_is_missing",),
    "kernels/waits.py": (f"{BACKLOGGED}add", f"{BACKLOGGED}enter", f"{BACKLOGGED}waits_end_when_they_should"),
    "kernels/timeouts.py": (
        f"{BACKLOGGED}settle_and_clear",
        f"{BACKLOGGED}settle_where_the_floor_is_the_first_index",
        f"{BACKLOGGED}retransmit",
        f"{BACKLOGGED}a_turn_loses_nothing",
        f"{BACKLOGGED}waits_end_when_they_should",
    ),
    "kernels/moves.py": (f"{BACKLOGGED}apply", f"{BACKLOGGED}trim"),
    "kernels/backlogged.py": (f"{BACKLOGGED}lose", f"{BACKLOGGED}settle_and_clear", f"{BACKLOGGED}advance"),
    "kernels/cubic_line.py": ("tests/kernels/test_cubic_line.py", f"{CUBIC}growth_by_hand", f"{CUBIC}periodic_losses"),
    "stationary/perron.py": (
        "tests/stationary/test_solve.py",
        f"{CUBIC}waves_are_what_an_epoch_does_far_from_an_empty_backlog",
        f"{NARROW}waves_are_those_of_the_transitions",
    ),
    "kernels/repairs.py": (f"{SACK}stored_is_its_twin",),
    "stationary/epoch_independent.py": (f"{SACK}live_is_its_twin", f"{CUBIC}live_is_its_twin"),
    "tcp/formulas.py": ("tests/tcp/test_formulas.py",),
    "tcp/sack_recovery.py": ("tests/tcp/test_sack_recovery.py", f"{SACK}stored_is_its_twin"),
    "tcp/silences.py": (
        "tests/tcp/test_silences.py",
        f"{RACK}a_probe_goes_before_the_timer",
        f"{RACK}a_timer_that_is_shorter_than_the_probe_runs_out_first",
        f"{RACK}duplicates_wait_as_the_paper_does",
    ),
    "tcp/growth.py": ("tests/tcp/test_growth.py", "tests/tcp/test_reno.py"),
    "numerics/linear.py": ("tests/numerics/test_linear.py", "tests/tcp/test_reno.py"),
    "tcp/reno.py": ("tests/tcp/test_reno.py", f"{SLOW}tilted_matrix_is_that_of_the_transitions"),
    "tcp/table_vi.py": ("tests/tcp/test_table_vi.py",),
    "tcp/slow_start.py": (
        f"{SLOW}windows",
        f"{SLOW}tilted_matrix_is_that_of_the_transitions",
        f"{SLOW}throughput_is_that_of_the_chain_that_remembers",
        f"{SLOW}stored_is_its_twin",
    ),
    "tcp/bottleneck.py": (
        f"{NARROW}windows_grow_by_a_packet_a_round_and_then_by_acknowledgements_at_the_rate",
        f"{NARROW}without_losses_it_is_the_sawtooth",
        f"{NARROW}what_is_whole_stays_whole",
    ),
    "tcp/reno_sack.py": (
        f"{SACK}rows_are_all_fates_of_the_packets",
        f"{SACK}tilted_matrix_and_throughput_are_those_of_the_transitions",
        f"{SLOW}throughput_is_that_of_the_chain_that_remembers",
        f"{SLOW}stored_is_its_twin",
    ),
    "tcp/independent.py": (
        f"{SACK}rows_are_all_fates_of_the_packets",
        f"{SACK}tilted_matrix_and_throughput_are_those_of_the_transitions",
    ),
    "tcp/cubic.py": (
        f"{CUBIC}a_loss_before_the_plateau_aims_lower",
        f"{CUBIC}states",
        f"{CUBIC}tilted_matrix_and_throughput_are_those_of_the_transitions",
        f"{CUBIC}lines_are_eliminated_first",
        f"{CUBIC}stored_is_its_twin",
    ),
    "answers/answer.py": (
        "tests/answers/test_answer.py",
        f"{LIVE}input_errors",
        f"{LIVE}a_stream_too_long_to_follow_is_refused",
    ),
    "numerics/measure.py": (f"{COARSE}split_keeps_moments", f"{STORED}agrees_with_the_explicit_chain"),
    "transient/coarse_moves.py": (
        f"{COARSE}split_keeps_moments",
        f"{COARSE}recovery_by_all_pairs",
        f"{COARSE}a_quantum_of_one_packet_is_exact",
        f"{COARSE}within_the_stated_error",
    ),
    "transient/coarse.py": ("tests/transient/test_coarse.py",),
    "transient/timeouts.py": (f"{COARSE}a_quantum_of_one_packet_is_exact", f"{STORED}agrees_with_the_explicit_chain"),
    "transient/burst.py": (
        f"{STORED}agrees_with_the_explicit_chain",
        f"{STORED}mass_is_conserved_over_thousands_of_rounds",
        f"{SLOW}stored_is_its_twin",
    ),
    "transient/independent.py": (f"{SACK}stored_is_its_twin",),
    "transient/first_slow_start.py": (f"{SLOW}stored_is_its_twin",),
    "answers/arrivals.py": (
        f"{BUFFER}monte_carlo",
        f"{STORED}rows_are_the_expected_shortfall",
        f"{STORED}agrees_with_the_explicit_chain",
    ),
    "answers/stored_rounds.py": (
        f"{BUFFER}one_packet_a_round",
        f"{BUFFER}monte_carlo",
        f"{STORED}an_answer_that_has_lost_more_than_the_error_bound_is_refused",
        f"{STORED}one_pass_serves_every_round_trip_and_rate",
        f"{STORED}a_long_video_that_tcp_cannot_keep_up_with_is_never_safe",
        f"{STORED}what_must_hold",
        f"{STORED}agrees_with_the_explicit_chain",
        f"{STORED}agrees_with_the_explicit_chain_on_a_playback_curve",
    ),
    "answers/stored_streaming.py": (
        f"{BUFFER}one_packet_a_round",
        *(
            f"{STORED}{name}"
            for name in (
                "a_target_finer_than_the_accuracy_is_refused",
                "a_probability_of_a_late_packet_is_ten_times_the_error_bound_at_least",
                "an_answer_that_has_lost_more_than_the_error_bound_is_refused",
                "one_round_trip_is_long_enough",
                "a_delay_of_zero_suffices_where_every_packet_is_in_time",
                "required_delay_is_the_smallest_that_meets_the_target",
                "one_pass_serves_every_round_trip_and_rate",
                "agrees_with_the_explicit_chain_on_a_playback_curve",
                "a_long_video_that_tcp_cannot_keep_up_with_is_never_safe",
                "a_long_video_is_followed_until_it_is_safe",
                "what_must_hold",
                "agrees_with_the_explicit_chain",
            )
        ),
    ),
    "transient/burst_limited.py": (
        f"{LIVE}a_stream_that_ends_within_a_round_is_judged_to_its_end",
        f"{SLOW}finite_live_is_its_twin[case0]",
        f"{LIVE}finite_agrees_with_the_explicit_chain",
    ),
    "transient/independent_limited.py": (f"{SACK}finite_live_is_its_twin",),
    "numerics/lattices.py": ("tests/numerics/test_lattices.py",),
    "numerics/stop_loss.py": ("tests/numerics/test_stop_loss.py",),
    "transient/finite_backlog.py": (*OFF, f"{LIVE}finite_agrees_with_the_explicit_chain"),
    "answers/live.py": (
        f"{LIVE}input_errors",
        f"{LIVE}a_stream_too_long_to_follow_is_refused",
        f"{LIVE}an_accuracy_that_is_not_reached_is_an_exception",
        f"{LIVE}a_rate_that_tcp_cannot_sustain_has_no_finite_delay",
        f"{LIVE}decay_rates",
        f"{LIVE}the_visible_decay_is_that_between_a_late_fraction_of_1e_4_and_of_1e_8",
        f"{LIVE}a_rate_off_the_lattice_is_answered_by_its_neighbours",
        f"{LIVE}the_error_bound_is_the_larger_one",
        f"{LIVE}a_stream_that_ends_within_a_round_is_judged_to_its_end",
        f"{MANY}live_many_solves_what_is_the_same_once",
        f"{MANY}the_first_failure_is_raised",
        f"{LIVE}what_must_hold",
    ),
    "numerics/roots.py": ("tests/numerics/test_roots.py",),
    "numerics/curves.py": ("tests/numerics/test_curves.py",),
    "answers/rate.py": ("tests/answers/test_rate.py",),
    "stationary/solve.py": (
        f"{SOLVE}the_error_bound_counts_rounds_until_the_backlog_has_emptied",
        f"{SOLVE}the_largest_state_is_as_large_as_it_says",
        "tests/stationary/test_solve.py",
        f"{LIVE}an_accuracy_that_is_not_reached_is_an_exception",
        f"{LIVE}residual_and_truncation_are_stated",
        f"{LIVE}the_error_bound_holds",
    ),
    "stationary/burst.py": (
        f"{LIVE}residual_and_truncation_are_stated",
        f"{SOLVE}waves_are_what_an_epoch_does_far_from_an_empty_backlog",
        f"{SOLVE}a_solve_is_what_plain_epochs_lead_to",
        *(f"{SLOW}live_is_its_twin[case{i}]" for i in (1, 3, 7)),
    ),
    "stationary/independent.py": (
        f"{SACK}live_is_its_twin",
        f"{CUBIC}waves_are_what_an_epoch_does_far_from_an_empty_backlog",
    ),
} | {
    f"traces/{name}.py": tuple(f"tests/traces/test_{one}.py" for one in tests.split())
    for name, tests in {
        "capping": "capping limitation",
        "capture": "capture_formats",
        "connections": "capture_formats estimate",
        "containers": "capture_formats",
        "decrease": "decrease",
        "detection": "detection",
        "diagnosis": "limitation",
        "estimate": "segment_size counts estimate",
        "loss_events": "decrease process estimate",
        "fates": "counts detection decrease estimate",
        "flow": "counts estimate",
        "intervals": "reports estimate",
        "iperf3": "reports",
        "layers": "layers",
        "limitation": "limitation",
        "measured_values": "counts estimate",
        "opening": "opening",
        "parts": "parts",
        "paths": "reports estimate",
        "process": "process",
        "proposal": "proposal",
        "recognise": "reports layers",
        "packet_records": "layers capture_formats",
        "sender_report": "reports",
        "segment_size": "segment_size",
        "socket_stats": "reports",
        "timing": "counts estimate",
        "transmissions": "counts decrease estimate",
        "waiting": "limitation",
    }.items()
}

NAMED: tuple[tuple[str, str, str], ...] = (
    (
        "transient/finite_backlog.py",
        "self._generating = math.floor(length + NOISE)",
        "self._generating = math.ceil(length + NOISE)",
    ),
    ("answers/answer.py", "if wanted < 10 * self.error_bound:", "if wanted < 1 * self.error_bound:"),
    ("answers/answer.py", "if wanted < 10 * self.error_bound:", "if False:"),
    ("answers/stored_streaming.py", "if 1 - wanted < 10 * self.error_bound:", "if 1 - wanted < 1 * self.error_bound:"),
    ("answers/stored_streaming.py", "if 1 - wanted < 10 * self.error_bound:", "if False:"),
    (
        "numerics/lattices.py",
        "return Interpolated(below * math.exp(share * rise), math.expm1(max(share, 1 - share) * abs(rise)) + ROUNDING)",
        "return Interpolated(below * math.exp(share * rise), math.expm1(max(share, 1 - share) * abs(rise)) / 2 + "
        "ROUNDING)",
    ),
    (
        "stationary/solve.py",
        "weight = 2 * rounds_per_packet * before",
        "weight = 1 * rounds_per_packet * before",
    ),
    (
        "stationary/solve.py",
        "deepest = 2 * rounds_per_packet * (depth / steps_per_packet + further)",
        "deepest = 1 * rounds_per_packet * (depth / steps_per_packet + further)",
    ),
)
"""Mutants that are tried before any drawn one: a file, a line of it, and what stands there instead."""
