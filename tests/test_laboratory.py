"""`runstate-lab lab`: which folder is served, whatever a user's or a site's settings say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from serving import OUR_PYTHON, SECONDS, home, lab

from runstate_lab.cli import front, laboratory, main, server
from runstate_lab.course import folder as folders
from runstate_lab.course.catalogue import OWN_COPY, Catalogue

FIRST = Path("notebooks", "00_hello.ipynb")
SCRIPT = Path(sysconfig.get_path("scripts"), "runstate-lab")


BENT = {
    "folders elsewhere": {
        "home/.jupyter/jupyter_server_config.py": """
c.ServerApp.root_dir = "{base}/other"
c.ServerApp.preferred_dir = "/nowhere"
c.ServerApp.notebook_dir = "/nowhere"
c.ServerApp.file_to_run = "/etc/passwd"
c.ServerApp.default_url = "/tree"
c.ContentsManager.root_dir = "/nowhere"
c.FileContentsManager.preferred_dir = "nowhere"
c.AsyncLargeFileManager.root_dir = "/nowhere"
c.AsyncMappingKernelManager.root_dir = "/nowhere"
"""
    },
    "the lab's own settings": {
        "home/.jupyter/jupyter_lab_config.py": """
c.ServerApp.root_dir = "{base}/other"
c.ServerApp.ip = "0.0.0.0"
c.LabApp.default_url = "/doc"
c.LabApp.app_dir = "/nowhere"
c.LabApp.core_mode = True
c.LabApp.collaborative = True
c.LabApp.labextensions_path = []
"""
    },
    "other managers": {
        "home/.jupyter/jupyter_config.json": json.dumps(
            {
                "ServerApp": {
                    "contents_manager_class": "none.Such",
                    "kernel_manager_class": "none.Such",
                    "sock": "/nowhere/socket",
                },
                "GatewayClient": {"url": "http://127.0.0.1:9"},
                "KernelSpecManager": {"allowed_kernelspecs": ["ir"]},
            }
        )
    },
    "names of older versions": {
        "home/.jupyter/jupyter_notebook_config.py": "c.NotebookApp.notebook_dir = '{base}/other'",
        "home/.jupyter/jupyter_server_config.py": """
c.NotebookApp.root_dir = "{base}/other"
c.NotebookApp.preferred_dir = "/nowhere"
c.NotebookApp.ip = "0.0.0.0"
c.LabApp.root_dir = "{base}/other"
c.LabApp.contents_manager_class = "none.Such"
""",
    },
    "settings that are broken": {
        "home/.jupyter/jupyter_server_config.json": "{",
        "home/.jupyter/jupyter_lab_config.py": "1 / 0",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("files", BENT.values(), ids=list(BENT))
def test_the_users_settings_do_not_move_the_course(
    files: Mapping[str, str], tiny: Catalogue, tmp_path: Path
) -> None:
    """It starts on this machine only, serves the course folder, and opens the first lesson."""
    with lab(tiny.root, tmp_path, files=files) as served:
        page, listed = served.first_page(), served.listed()
        kernels = served.get("api/kernelspecs")["kernelspecs"]

    assert tiny.root / OWN_COPY == Path(served.told["root_dir"])
    assert ("127.0.0.1", f"lab/tree/{FIRST}") == (served.told["hostname"], page)
    assert ["catalogue.toml", "exercises", "notebooks"] == listed
    assert "python3" in kernels


@pytest.mark.slow
def test_the_environment_does_not_move_the_course(tiny: Catalogue, tmp_path: Path) -> None:
    """Nor does a variable that names another JupyterLab, another kernel or a gateway."""
    more = {
        "JUPYTERLAB_DIR": "{base}/other",
        "JUPYTER_GATEWAY_URL": "http://127.0.0.1:9",
        "JUPYTER_PREFER_ENV_PATH": "0",
        "JUPYTER_CONFIG_DIR": "{base}/settings",
    }
    files = {
        "settings/jupyter_server_config.py": "c.ServerApp.preferred_dir = '/'",
        "home/.local/share/jupyter/kernels/python3/kernel.json": json.dumps(
            {"argv": ["none"], "display_name": "theirs", "language": "python"}
        ),
    }
    with lab(tiny.root, tmp_path, files=files, **more) as served:
        page = served.first_page()
        kernel = served.get("api/kernelspecs")["kernelspecs"]["python3"]["spec"]["display_name"]

    assert tiny.root / OWN_COPY == Path(served.told["root_dir"])
    assert (f"lab/tree/{FIRST}", "Python 3 (ipykernel)") == (page, kernel)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("--ServerApp.root_dir={base}/other",),
        ("--notebook-dir={base}/other",),
        ("{base}/other",),
        ("--config={base}/other.py",),
    ],
    ids=lambda words: words[0].partition("=")[0],
)
def test_the_users_arguments_win_over_ours(
    arguments: tuple[str, ...], tiny: Catalogue, tmp_path: Path
) -> None:
    """Who names a folder on the command line gets that one."""
    files = {"other.py": "c.ServerApp.root_dir = '{base}/other'", "other/mine.txt": "mine"}
    with lab(tiny.root, tmp_path, *arguments, files=files) as served:
        listed = served.listed()

    assert (tmp_path / "other", ["mine.txt"]) == (Path(served.told["root_dir"]), listed)


STOPPED = {
    "token of a wrong kind": ("c.ServerApp.token = 5", ":2: c.ServerApp.token = 5"),
    "ends Jupyter": ("raise SystemExit(4)", "jupyter_server_config.py"),
    "password wanted": (
        "c.PasswordIdentityProvider.password_required = True\nc.IdentityProvider.token = ''",
        "jupyter_server_config.py",
    ),
    "no such class": (
        "c.ServerApp.identity_provider_class = 'none.Such'",
        ":2: c.ServerApp.identity_provider_class = 'none.Such'",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("setting", "place"), STOPPED.values(), ids=list(STOPPED))
def test_a_setting_that_stops_jupyter_is_named_with_its_place(
    setting: str, place: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """Asked wrongly: our words say what stopped it, which file, and what to do."""
    files = {"home/.jupyter/jupyter_server_config.py": f"# theirs\n{setting}\n"}
    seen = subprocess.run(
        [*OUR_PYTHON, "--course", str(tiny.root), "lab", "--no-browser", "--port=0"],
        env=home(tmp_path, files=files),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    told = seen.stderr.partition("JupyterLab stopped with an error: ")[2]

    assert 2 == seen.returncode
    assert f"{tmp_path / 'home' / '.jupyter'}" in told
    assert place in told
    assert "hint: change that setting" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_settings_can_be_left_out(tiny: Catalogue, tmp_path: Path) -> None:
    """What the hint says helps: the course's own settings stay in force."""
    files = {"home/.jupyter/jupyter_server_config.py": "c.ServerApp.token = 5"}
    with lab(tiny.root, tmp_path, files=files, JUPYTER_NO_CONFIG="1") as served:
        assert ["catalogue.toml", "exercises", "notebooks"] == served.listed()


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("command", [(str(SCRIPT),), OUR_PYTHON], ids=["script", "module"])
def test_a_terminal_of_the_lab_knows_the_command(
    command: tuple[str, ...], shell: str, tiny: Catalogue, tmp_path: Path
) -> None:
    """Also where the user's files and the system's profile set PATH anew."""
    files = {f"home/{name}": "export PATH=/usr/bin:/bin\n" for name in (".bashrc", ".profile")}
    more = {"SHELL": shutil.which(shell) or "", "VIRTUAL_ENV": "/elsewhere"}
    with lab(tiny.root, tmp_path, command=command, files=files, **more) as served:
        shown = served.typed("runstate-lab progress; echo first=${PATH%%:*} venv=$VIRTUAL_ENV.")

    assert "01_greeting  not checked yet" in shown
    assert f"first={SCRIPT.parent} " in shown
    assert "/elsewhere" not in shown


def test_the_kits_folder_stands_first_in_the_path(tmp_path: Path) -> None:
    """Once, whatever stood there before; what names another Python is gone."""
    folder = str(SCRIPT.parent)
    given = {
        "PATH": os.pathsep.join(["/usr/bin", folder, "/bin"]),
        "VIRTUAL_ENV": "/elsewhere",
        "VIRTUAL_ENV_PROMPT": "elsewhere",
        "JUPYTERLAB_DIR": "/elsewhere",
        "LANG": "C.UTF-8",
    }
    told = server.environment(tmp_path, given)

    assert os.pathsep.join([folder, "/usr/bin", "/bin"]) == told["PATH"]
    assert "C.UTF-8" == told["LANG"]
    assert "elsewhere" not in " ".join(told.values())
    assert (sys.prefix if sys.prefix != sys.base_prefix else None) == told.get("VIRTUAL_ENV")


def test_without_a_console_script_the_lab_says_what_to_type(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kit that runs from its folder has none; `python -m` does the same."""
    monkeypatch.setattr(server, "script", lambda: None)
    monkeypatch.setattr(server, "serve", lambda *_: None)
    seen = CliRunner().invoke(main, ["--course", str(tiny.root), "lab"])

    assert 0 == seen.exit_code
    assert f"{Path(sys.executable).name} -m runstate_lab" in seen.stderr


def told(root: Path, *given: str, port: int | None = None) -> server.Settings:
    """What Jupyter is told about that folder."""
    return server.settings(root, FIRST, port=port, browser=False, given=given)


def test_the_lab_opens_the_first_lesson_on_this_machine_only(tmp_path: Path) -> None:
    """Folder, address, lesson and port; nobody is asked to open a browser that is not there."""
    settings = told(tmp_path, port=8899)
    ours = settings["ServerApp"]

    assert (str(tmp_path), "127.0.0.1", 8899) == (ours["root_dir"], ours["ip"], ours["port"])
    assert "/lab/tree/notebooks/00_hello.ipynb" == settings["LabApp"]["default_url"]
    assert (False, False) == (ours["open_browser"], settings["LabApp"]["open_browser"])
    assert (hasattr(os, "geteuid") and os.geteuid() == 0) == ours["allow_root"]


@pytest.mark.parametrize(
    ("argument", "gone"),
    [
        ("--ServerApp.ip=0.0.0.0", ("ip",)),
        ("--ip", ("ip",)),
        ("--LabApp.default_url=/lab", ("default_url",)),
        ("--preferred-dir=x", ("root_dir", "notebook_dir", "preferred_dir")),
        ("--gateway-url=http://127.0.0.1", ("kernel_manager_class", "kernel_spec_manager_class")),
        (".", ("root_dir", "preferred_dir")),
    ],
)
def test_what_an_argument_names_is_left_to_it(
    argument: str, gone: tuple[str, ...], tmp_path: Path
) -> None:
    """Twice the same setting would be an error of Jupyter's."""
    settings = told(tmp_path, argument)

    assert [] == [name for group in settings.values() for name in gone if name in group]
    assert "contents_manager_class" in settings["ServerApp"]


def test_settings_under_older_names_are_answered_under_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those that a file really makes: each costs the user a warning of Jupyter's."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    theirs = tmp_path / "jupyter_server_config.py"
    theirs.write_text("c.NotebookApp.root_dir = '/'\n# c.LabApp.ip = '0.0.0.0'\n", "utf-8")
    older = server.older_groups(tmp_path)
    ours = server.settings(tmp_path, FIRST, port=None, browser=True, older=older)

    assert {"root_dir": str(tmp_path)} == ours["NotebookApp"]
    assert "ip" not in ours["LabApp"]


def test_a_setting_that_is_not_the_users_is_not_theirs_to_leave_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint fits the place; a message that names no setting is told with every file."""
    site = tmp_path / "site" / "jupyter_server_config.py"
    site.parent.mkdir()
    site.write_text("c.ServerApp.port = 80\n", encoding="utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "mine"))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(site.parent))
    named, unnamed = (server.ended(tmp_path, words) for words in ("port 80 is taken", "no"))

    assert f"this machine: {site}:1: c.ServerApp.port = 80" in named.found
    assert unnamed.found.endswith(f"this machine: {site}")
    assert "change that setting, or ask the one who keeps it" == named.hint


def test_the_labs_settings_are_private_to_the_course(tmp_path: Path) -> None:
    """They are files inside the course folder, in which news are off."""
    server.prepare(tmp_path, told(tmp_path))
    ours = tmp_path / server.OURS
    quiet = json.loads((ours / "labconfig" / "default_setting_overrides.json").read_bytes())

    assert "false" == quiet["@jupyterlab/apputils-extension:notification"]["fetchNews"]
    assert [".runstate"] == [path.name for path in tmp_path.iterdir()]


def test_settings_that_are_there_are_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A course folder that cannot be written can still be looked at."""
    server.prepare(tmp_path, told(tmp_path))
    monkeypatch.setattr(server, "replace", lambda *_: pytest.fail("written again"))
    server.prepare(tmp_path, told(tmp_path))


def prepared(course: Catalogue) -> Any:
    """The result of making the course folder of a checkout."""
    return CliRunner().invoke(main, ["--course", str(course.root), "lab", "--prepare"])


def test_a_checkout_is_worked_in_beside_itself(tiny: Catalogue) -> None:
    """The folder's path is the data; notebooks of the checkout are not touched."""
    before = {path: path.read_bytes() for path in tiny.root.rglob("*.ipynb")}
    seen = prepared(tiny)
    folder = tiny.root / OWN_COPY

    assert (0, f"{folder}\n") == (seen.exit_code, seen.stdout)
    assert f"4 files written to {folder}\n" == seen.stderr
    assert not (folder / "solutions").exists()
    assert before == {path: path.read_bytes() for path in before}


def test_the_verbs_of_a_checkout_work_in_its_course_folder(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that was written in the lab is the one that is checked, and where is said."""
    prepared(tiny)
    monkeypatch.chdir(tiny.root)
    monkeypatch.delenv("RUNSTATE_PROGRESS")
    exercise = tiny.exercise("01")
    mine = tiny.root / OWN_COPY
    shutil.copyfile(tiny.root / exercise.solved, mine / exercise.notebook)
    checked = CliRunner().invoke(main, ["check", "01"])
    solution = CliRunner().invoke(main, ["solution", "01.1"])
    reset = CliRunner().invoke(main, ["reset", "01"])

    assert (0, 0, 0) == (checked.exit_code, solution.exit_code, reset.exit_code)
    assert f"course folder: {mine}\n" == checked.stderr
    assert 'words = f"Hello, {name}: release {release}"' in solution.stdout
    assert (tiny.root / exercise.notebook).read_bytes() == (mine / exercise.notebook).read_bytes()
    assert [] == list(tiny.root.glob(".runstate/progress.json"))


def test_work_done_in_a_checkout_comes_along(tiny: Catalogue) -> None:
    """The changed notebook and the progress are in the course folder, and both are said."""
    path = tiny.root / tiny.exercise("01").notebook
    path.write_text(path.read_text(encoding="utf-8").replace("raise Not", "raise  Not"), "utf-8")
    (tiny.root / ".runstate").mkdir(exist_ok=True)
    (tiny.root / ".runstate" / "progress.json").write_text("{}", encoding="utf-8")
    seen = prepared(tiny)
    mine = tiny.root / OWN_COPY

    assert path.read_bytes() == (mine / tiny.exercise("01").notebook).read_bytes()
    assert "{}" == (mine / ".runstate" / "progress.json").read_text(encoding="utf-8")
    assert (
        f"1 file not as built; your changed copies are now in {mine}: "
        "exercises/01_greeting/01_greeting.ipynb"
    ) == seen.stderr.splitlines()[1]
    assert "" == prepared(tiny).stderr


def test_a_folder_of_somebody_elses_is_not_filled(tiny: Catalogue) -> None:
    """The name alone does not make it ours."""
    (tiny.root / OWN_COPY).mkdir()
    (tiny.root / OWN_COPY / "thesis.txt").write_text("mine", encoding="utf-8")
    seen = prepared(tiny)

    assert 2 == seen.exit_code
    assert "is no course folder of runstate-lab, and it is not empty" in seen.stderr
    assert ["thesis.txt"] == [path.name for path in (tiny.root / OWN_COPY).iterdir()]


def test_a_folder_of_somebody_elses_is_filled_when_they_say_so(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The course stands beside what was there."""
    (tiny.root / OWN_COPY / "notebooks").mkdir(parents=True)
    (tiny.root / OWN_COPY / FIRST).write_text("mine", encoding="utf-8")
    monkeypatch.setattr(laboratory, "_may_fill", lambda folder: True)
    seen = prepared(tiny)

    assert 0 == seen.exit_code
    assert f"1 file newer in the kit; yours were changed and stay: {FIRST}" in seen.stderr
    assert "mine" == (tiny.root / OWN_COPY / FIRST).read_text(encoding="utf-8")


def test_a_file_in_the_course_folders_place_is_told(tiny: Catalogue) -> None:
    """Its name, the system's words, and one thing to do."""
    (tiny.root / OWN_COPY).write_text("mine", encoding="utf-8")
    seen = prepared(tiny)

    assert 2 == seen.exit_code
    assert "hint: a file stands where a folder should be: move it away" in seen.stderr


def test_a_folder_that_cannot_be_written_is_told(
    tiny: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint names a place where it would work."""

    def refused(path: Path, content: bytes) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(folders, "replace", refused)
    seen = prepared(tiny)

    assert 2 == seen.exit_code
    assert "the course folder cannot be written" in seen.stderr
    assert "hint: run this in a folder of your own" in seen.stderr


def extension(folder: Path, name: str) -> None:
    """An extension of JupyterLab, as an installer leaves it."""
    place = folder / "labextensions" / name
    (place / "static").mkdir(parents=True)
    (place / "static" / "entry.js").write_text("", encoding="utf-8")
    about = {"name": name, "version": "1", "jupyterlab": {"_build": {"load": "static/entry.js"}}}
    (place / "package.json").write_text(json.dumps(about), encoding="utf-8")


@pytest.fixture
def two_front_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which both are installed, and nothing else is."""
    for name in front.FRONT_ENDS:
        extension(tmp_path, name)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "settings"))
    monkeypatch.setattr(front, "extension_folders", lambda: [tmp_path / "labextensions"])
    return tmp_path


def test_front_ends_that_are_there_are_well(two_front_ends: Path) -> None:
    """Their versions, and nothing to do."""

    assert [("1", ""), ("1", "")] == [(each.found, each.hint) for each in front.front_ends()]


@pytest.mark.parametrize(
    "said",
    [
        {"disabledExtensions": {"anywidget": True}},
        {"disabledExtensions": ["anywidget"]},
        {"disabledExtensions": {"anywidget:plugin": True}},
    ],
    ids=["by name", "in a list", "its plugin"],
)
def test_a_front_end_that_was_switched_off_is_told_with_the_file(
    said: dict[str, Any], two_front_ends: Path, tiny: Catalogue
) -> None:
    """`doctor` ends with 1, and says where it is switched off."""
    page = two_front_ends / "settings" / "labconfig" / "page_config.json"
    page.parent.mkdir(parents=True)
    page.write_text(json.dumps(said), encoding="utf-8")
    seen = CliRunner().invoke(main, ["--course", str(tiny.root), "doctor"])

    assert 1 == seen.exit_code
    assert f"disabled in {page}" in seen.stdout
    assert "without anywidget the widgets are still pictures" in seen.stderr


def test_a_front_end_that_another_extension_switches_off_is_told(two_front_ends: Path) -> None:
    """JupyterLab believes what an extension says of another."""
    extension(two_front_ends, "fork")
    path = two_front_ends / "labextensions" / "fork" / "package.json"
    about = json.loads(path.read_bytes())
    about["jupyterlab"]["disabledExtensions"] = ["anywidget"]
    path.write_text(json.dumps(about), encoding="utf-8")

    assert ["1", f"disabled in {path}"] == [each.found for each in front.front_ends()]


@pytest.mark.parametrize("lost", ["package.json", "static/entry.js"])
def test_a_front_end_that_is_not_whole_is_told(lost: str, two_front_ends: Path) -> None:
    """Missing, or broken; the hint installs it anew."""
    (two_front_ends / "labextensions" / "anywidget" / lost).unlink()
    whole, broken = front.front_ends()

    assert ("1", "") == (whole.found, whole.hint)
    assert broken.found.startswith(("missing", "broken"))
    assert broken.hint.endswith("pip install --force-reinstall anywidget")


def test_doctor_says_whether_the_course_folder_is_fresh(tiny: Catalogue) -> None:
    """Not made yet, as delivered, changed; and what is older than the checkout's."""

    def row() -> str:
        seen = CliRunner().invoke(main, ["--course", str(tiny.root), "doctor"])
        (line,) = (each for each in seen.stdout.splitlines() if each.startswith("course folder"))
        return line.partition("course folder")[2].strip().removeprefix(f"{tiny.root / OWN_COPY}: ")

    assert "not made yet; runstate-lab lab makes it" == row()
    prepared(tiny)
    assert "4 as delivered" == row()
    (tiny.root / OWN_COPY / FIRST).write_text("{}", encoding="utf-8")
    assert f"3 as delivered, 1 changed by you ({FIRST})" == row()
    with (tiny.root / "catalogue.toml").open("a", encoding="utf-8") as file:
        file.write("\n# newer\n")
    assert "1 older than the kit's (catalogue.toml)" in row()


def test_doctor_says_whether_a_terminal_can_be_opened(
    tiny: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the shell; a setting that forbids terminals is named."""
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path))
    before = front.terminal()
    (tmp_path / "jupyter_server_config.json").write_text(
        '{"ServerApp": {"terminals_enabled": false}}', encoding="utf-8"
    )

    assert f"opens {front.shell()}" == before
    assert "none: switched off by the setting ServerApp.terminals_enabled" == front.terminal()
