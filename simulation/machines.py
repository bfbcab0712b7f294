"""The machines that are simulated, as names and numbers for simulation/workloads, and where each number is from.

What is measured: constants/measured.json, by constants/measure.cpp. What a paper says is cited. What is neither is assumed, and says so where it
stands: how far a line is from behind another shared cache, how many cores share one on the large machines, the first cache of Mely's processor (its
data sheet), and libasync-smp's lines. No number of a machine was changed after the first simulation.
"""
import json
import pathlib

import web_costs

MEASURED = json.loads((pathlib.Path(__file__).resolve().parent / "constants" / "measured.json").read_text())
SYSTEM = ("new_delete_ns", "membarrier_alone_ns", "membarrier_ns", "futex_wake_ns", "wake_to_run_ns", "futex_refused_ns", "yield_ns")
CORE = ("rmw_ns", "fence_ns", "pause_ns", "clock_ns", "queue_steps_ns")
HANDLERS = ("spin_100_cycles_ns", "spin_20000_cycles_ns", "w8_make_ns", "w8_read_ns", "w9_make_ns", "w9_sort_ns", "w9_merge_ns")

# A step of a chain of a multiplication and an addition takes 3 + 1 cycles on this core and on those of the papers.
CYCLES_PER_NS = 4 / MEASURED["churn_step_ns"]


def here(cores, cores_per_group):
    """Cores like this project's, in groups that share a third cache. Assumed: from behind it a line takes as long as from memory; it cannot
    be measured here, for there is one group. No other socket."""
    far = MEASURED["memory_load_ns"] / MEASURED["line_load_ns"]
    return {name: MEASURED[name] for name in SYSTEM + CORE + HANDLERS} | web_costs.HANDLERS | {
        "cores": cores,
        "cores_per_group": cores_per_group,
        "own_cache_kb": MEASURED["own_cache_kb"],
        "shared_cache_kb": MEASURED["shared_cache_kb"],
        "near_cache_load_ns": MEASURED["l3_load_ns"],
        "near_cache_stream_ns": MEASURED["l3_stream_ns"],
        "near_core_load_ns": MEASURED["line_load_ns"],
        "far_load_ns": MEASURED["memory_load_ns"],
        "memory_load_ns": MEASURED["memory_load_ns"],
        "memory_stream_ns": MEASURED["memory_stream_ns"],
        "near_store_ns": MEASURED["line_store_ns"],
        "far_store_ns": MEASURED["line_store_ns"] * far,
        "w10_task_ns": 64 * MEASURED["churn_step_ns"],
    }


def with_clock(ghz):
    """What a core does, in as many cycles as here, by another clock."""
    slower = CYCLES_PER_NS / ghz
    own = {name: MEASURED[name] for name in SYSTEM + CORE + HANDLERS} | web_costs.HANDLERS
    return {name: ns * slower for name, ns in own.items()}, slower


def mely():
    """Two Xeon E5410, 2.33 GHz; pairs of cores share 6 MB; uniform memory (Mely, V.A). The first cache, 32 KB: the processor's data sheet.

    190 cycles for the next event of another core's queue (II.C), and 7.3 times less from a neighbor's (III.A). Memory is as far as another
    pair's cache, for there is one bus. All else: as many cycles as here.
    """
    ghz = 2.33
    cycles, slower = with_clock(ghz)
    far = 190 / ghz
    near = far / 7.3
    return cycles | {
        "cores": 8,
        "cores_per_group": 2,
        "own_cache_kb": 32,
        "shared_cache_kb": 6144,
        "near_cache_load_ns": near,
        "near_cache_stream_ns": min(near, MEASURED["l3_stream_ns"] * slower),
        "near_core_load_ns": near,
        "far_load_ns": far,
        "memory_load_ns": far,
        "memory_stream_ns": MEASURED["memory_stream_ns"] * slower,
        "near_store_ns": min(near, MEASURED["line_store_ns"] * slower),
        "far_store_ns": min(far, 7.3 * MEASURED["line_store_ns"] * slower),
        "spin_100_cycles_ns": 100 / ghz,  # as the paper has it, without the clock's grain
        "spin_20000_cycles_ns": 20_000 / ghz,
        "w10_task_ns": 64 * MEASURED["churn_step_ns"] * slower,
    }


def libasync():
    """Four Pentium III Xeon, 500 MHz, 512 KB each (libasync-smp, 4). It prints no latency: lines and memory take the time that they take here,
    cores as many cycles. How long its task computes it does not say either: one row of its table is given for that (GIVEN)."""
    cycles, slower = with_clock(0.5)
    return cycles | {
        "cores": 4,
        "cores_per_group": 1,
        "own_cache_kb": 512,
        "shared_cache_kb": 512,
        "near_cache_load_ns": MEASURED["memory_load_ns"],
        "near_cache_stream_ns": MEASURED["memory_stream_ns"],
        "near_core_load_ns": MEASURED["line_load_ns"],
        "far_load_ns": MEASURED["line_load_ns"],
        "memory_load_ns": MEASURED["memory_load_ns"],
        "memory_stream_ns": MEASURED["memory_stream_ns"],
        "near_store_ns": MEASURED["line_store_ns"],
        "far_store_ns": MEASURED["line_store_ns"],
        "w10_task_ns": 0,
    }


MACHINES = {
    "here_2": here(2, 2),
    "mely_8": mely(),
    "libasync_4": libasync(),
    "large_16": here(16, 8),
    "large_64": here(64, 8),
    "large_128": here(128, 8),
}

# libasync-smp, table 2: with queues for each worker and free lists, three of its four processors run so many tasks per second. Of 16 colors
# one of the three has six, and the run ends with it.
GIVEN = {"machine": "libasync_4", "question": "w10", "scheduler": "per_worker:no-stealing", "processors": 16 / 6, "tasks_per_s": 293_997}
