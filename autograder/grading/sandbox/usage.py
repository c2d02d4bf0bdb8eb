"""Processor times without the call that tells page faults too: IPython's `%time` asks for them, and so may students."""

from __future__ import annotations

import os
import resource

FIELDS = 16


def replace_getrusage() -> None:
    """Have Python's `getrusage` say what processor time was used, and 0 for everything else.

    The filter refuses the kernel's call: how many pages had to be read from disk tells what others have read.
    """
    resource.getrusage = times_used


def times_used(who: int) -> resource.struct_rusage:
    """Return processor times in the form of getrusage(2).

    Args:
        who: RUSAGE_CHILDREN for those of the processes that were waited for.
    """
    times = os.times()
    own, children = (times.user, times.system), (times.children_user, times.children_system)
    spent = children if who == resource.RUSAGE_CHILDREN else own
    return resource.struct_rusage((*spent, *[0] * (FIELDS - len(spent))))
