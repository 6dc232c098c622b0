# SPDX-License-Identifier: MIT
"""The end of a program whose standard output may be full, or closed by its reader (`| head`)."""
import contextlib
import os
import sys


def guarded(prog, main):
    """Exit status of the program whose body is main(), which returns one; 2, and one line of error,
    when something can't be written."""
    try:
        status = main()
        sys.stdout.flush()
        return status
    except OSError as error:
        # What is left in the buffer goes nowhere when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with contextlib.suppress(OSError):
            print(f"{prog}: {error.filename or 'standard output'}: {error.strerror}",
                  file=sys.stderr)
        return 2
