"""Which release this is."""

from importlib.metadata import PackageNotFoundError, version


def its_version() -> str:
    """The installed version."""
    try:
        return version("toolwire")
    except PackageNotFoundError:
        return "0+unknown"
