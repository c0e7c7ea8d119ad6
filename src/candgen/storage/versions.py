"""The versions of candgen and of what it runs on."""

from importlib import metadata


def version(package: str = "candgen") -> str:
    """The version of an installed package; a package may also lie on the path without being one.

    >>> version("no such package")
    '0+unknown'
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0+unknown"
