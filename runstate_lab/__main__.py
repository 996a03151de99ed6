"""`python -m runstate_lab` is the same as `runstate-lab`."""

from runstate_lab.cli import main

if __name__ == "__main__":
    main(prog_name="runstate-lab")
