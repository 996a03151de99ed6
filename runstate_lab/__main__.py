"""`python -m runstate_lab` is the same as `runstate-lab`.

Python puts the working folder before every library when it is asked for `-m`. In
a folder of submissions that folder holds what students named: a student called
`click` would be a library. The package therefore drops it in its first lines,
unless it is the folder that the package itself lies in, a checkout.

What Python itself imports before our first line it may still take from there:
`runstate_lab` itself, `importlib`, `contextlib`, `warnings`, `collections`,
`keyword`, `operator`, `reprlib`, `functools` and `types`. The command
`runstate-lab` has no working folder on its path at all, and so has `python -P`.
"""

from runstate_lab.cli import main

if __name__ == "__main__":
    main(prog_name="runstate-lab")
