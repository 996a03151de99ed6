"""A notebook run once, from top to bottom, in a fresh kernel of this Python.

What differs from run to run is taken out here: widget models, kernel versions,
file names in tracebacks. What names this machine is refused. Reading masters
and writing files is not here.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from ipykernel.kernelspec import get_kernel_dict
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from runstate_lab.course.faults import CourseFault, Place

SECONDS_PER_CELL = 60
WIDGET = "application/vnd.jupyter.widget-view+json"
LANGUAGE = {
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ADDRESS = re.compile(r"0x[0-9a-f]{6,16}")
PICTURE = re.compile(r"data:image/[^\"')]+")


class _ThisPythonOnly(KernelSpecManager):
    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(**get_kernel_dict())


class ThisPython(AsyncKernelManager):
    """Starts the Python that runs the build, whatever kernels are installed."""

    def _kernel_spec_manager_default(self) -> KernelSpecManager:
        return _ThisPythonOnly()


def execute(
    notebook: NotebookNode, *, folder: Path, place: Path, timeout: int = SECONDS_PER_CELL
) -> None:
    """Fill in the outputs of every cell; a cell that fails is told with its text."""
    with tempfile.TemporaryDirectory(prefix="runstate-build-") as scratch:
        client = NotebookClient(
            notebook,
            kernel_manager_class=ThisPython,
            extra_arguments=["--IPKernelApp.log_level=ERROR", "--HistoryManager.enabled=False"],
            timeout=timeout,
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            resources={"metadata": {"path": str(folder)}},
        )
        try:
            client.execute(env=_environment(scratch))
        except CellExecutionError as error:
            words = COLOUR.sub("", str(error)).strip()
            raise CourseFault(f"a cell failed when run:\n{words}", place=Place(place)) from None
        except CellTimeoutError:
            found = f"a cell took more than {timeout} seconds"
            raise CourseFault(found, place=Place(place)) from None
        except DeadKernelError:
            raise CourseFault("the kernel died", place=Place(place)) from None


def settle(notebook: NotebookNode, place: Path) -> None:
    """Take out what differs from run to run, and refuse what names this machine."""
    notebook.metadata["kernelspec"] = dict(KERNEL)
    notebook.metadata["language_info"] = dict(LANGUAGE)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in map(_settled, cell.outputs) if output is not None]
            _refuse_machine(cell, place)
            _refuse_silence(cell, place)


def text_of(notebook: NotebookNode) -> str:
    """The bytes that are committed: sorted keys, one final newline."""
    return nbformat.writes(notebook, version=4, ensure_ascii=False).rstrip("\n") + "\n"


def _settled(output: NotebookNode) -> NotebookNode | None:
    if output.output_type == "error":
        output.traceback = [f"{output.ename}: {output.evalue}"]
    if "data" in output:
        output.data.pop(WIDGET, None)
        return output if output.data else None
    return output


def _refuse_machine(cell: NotebookNode, place: Path) -> None:
    homes = {sys.prefix, str(Path.home()), tempfile.gettempdir(), str(Path.cwd())} - {"/"}
    for output in cell.outputs:
        text = PICTURE.sub("", str(dict(output)))
        for needle in sorted(homes):
            if f"{needle}{os.sep}" in text:
                raise CourseFault(
                    f"the output of cell {cell.id} names {needle}",
                    place=Place(place),
                    hint="print no paths: they differ from machine to machine",
                )
        if address := ADDRESS.search(text):
            raise CourseFault(
                f"the output of cell {cell.id} holds the address {address[0]}",
                place=Place(place),
                hint="give what is shown a __repr__ of its own",
            )


def _refuse_silence(cell: NotebookNode, place: Path) -> None:
    """A cell that promises an exception and raises none."""
    promised = "raises-exception" in cell.metadata.get("tags", ())
    raised = any(output.output_type == "error" for output in cell.outputs)
    if promised and cell.execution_count and not raised:
        found = f"cell {cell.id} is tagged raises-exception and raised nothing"
        raise CourseFault(found, place=Place(place))


def _environment(scratch: str) -> dict[str, str]:
    return {
        **os.environ,
        "RUNSTATE_PROGRESS": "off",
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": scratch,
    }
