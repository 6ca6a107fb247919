"""Import: sheets are dragged in, their columns matched, and imported all together or not at all."""

from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.responses import Response

from sequoia.errors import FileError, SequoiaError
from sequoia_programme.importing import import_sheets
from sequoia_programme.matching import SHEETS, match_columns
from sequoia_programme.sources import remember
from sequoia_programme.web.call import Call

_KINDS = (".csv", ".xlsx", ".json")
_MOST_BYTES = 10_000_000


def show(call: Call) -> Response:
    """Ask for sheets."""
    return call.page("import.html", kinds=SHEETS, wrong=[], matched=None, upload="")


def check(call: Call) -> Response:
    """Read the sheets, and ask which column is which."""
    upload, folder = call.site.uploads.begin()
    try:
        for kind in SHEETS:
            _keep(call, kind, folder)
        given = _given(folder)
        if not given:
            raise FileError("no sheet was chosen; CSV, XLSX or JSON is wanted.")
        matched = {kind: match_columns(call.programme, path, kind) for kind, path in given.items()}
    except SequoiaError as error:
        return _again(call, folder, error)
    return call.page("import.html", kinds=SHEETS, wrong=[], matched=matched, upload=upload)


def start(call: Call) -> Response:
    """Import the sheets, all of them or nothing; what is wrong is said where it is."""
    upload = call.text("upload")
    folder = call.site.uploads.find(upload)
    given = _given(folder)
    try:
        names = {kind: _said(call, kind, path) for kind, path in given.items()}
        done = import_sheets(
            call.programme,
            {kind: path for kind, path in given.items() if kind != "log"},
            given.get("log"),
            correct=bool(call.text("correct")),
            today=call.site.today(),
            names=names,
        )
    except SequoiaError as error:
        matched = {kind: match_columns(call.programme, path, kind) for kind, path in given.items()}
        return _again(call, folder, error, matched=matched, upload=upload)
    call.site.uploads.end(upload)
    lines = [_plain(line, folder) for line in (*done.lines, *done.remarks)]
    return call.go("/", " ".join(lines)[:1000])


def _keep(call: Call, kind: str, folder: Path) -> None:
    """Write an uploaded file; only the ending of its name is used."""
    sent = call.form.get(kind)
    if not isinstance(sent, UploadFile) or not sent.filename:
        return
    ending = Path(sent.filename).suffix.lower()
    if ending not in _KINDS:
        raise FileError(f"the {SHEETS[kind]} ends in {ending!r}; CSV, XLSX or JSON is wanted.")
    content = sent.file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise FileError(f"the {SHEETS[kind]} has more than {_MOST_BYTES // 10**6} MB.")
    (folder / f"{SHEETS[kind]}{ending}").write_bytes(content)


def _given(folder: Path) -> dict[str, Path]:
    places = {kind: [folder / f"{name}{end}" for end in _KINDS] for kind, name in SHEETS.items()}
    return {kind: path for kind, paths in places.items() for path in paths if path.exists()}


def _said(call: Call, kind: str, path: Path) -> dict[str, str]:
    """Return what was chosen for the columns of a sheet, and keep it for the next such sheet."""
    columns = match_columns(call.programme, path, kind).columns
    names = {name: call.text(f"{kind} {number}") for number, name in enumerate(columns)}
    remember(call.programme.folder, kind, names)
    return {name: what for name, what in names.items() if what}


def _again(
    call: Call, folder: Path, error: SequoiaError, matched: object = None, upload: str = ""
) -> Response:
    lines = [_plain(line, folder) for line in error.lines]
    return call.page("import.html", 422, kinds=SHEETS, wrong=lines, matched=matched, upload=upload)


def _plain(line: str, folder: Path) -> str:
    """Return a line without the folder that nobody knows."""
    return line.replace(f"{folder}/", "")
