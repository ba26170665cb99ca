"""How pyiceberg reads and writes files of a table that is still in a local folder."""

from pathlib import Path

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO


class MovedFiles(PyArrowFileIO):
    """Files below `steward.location` are those of `steward.folder`; nothing else is opened, here or elsewhere."""

    def new_input(self, location: str) -> PyArrowFile:
        return self._here(location)

    def new_output(self, location: str) -> PyArrowFile:
        return self._here(location)

    def _here(self, location: str) -> PyArrowFile:
        inside = location.removeprefix(f"{self.properties['steward.location']}/")
        path = Path(self.properties["steward.folder"]) / inside
        if inside == location or ".." in path.parts:
            raise PermissionError(f"{location} is outside of the table.")
        path.parent.mkdir(parents=True, exist_ok=True)
        return PyArrowFile(location, str(path), self.fs_by_scheme("file", None))
