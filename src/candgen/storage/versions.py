"""The versions of candgen and of the packages that it uses."""

from importlib import metadata


def version(package: str = "candgen") -> str:
    """Return the version of an installed package, or ``0+unknown`` if it is not installed.

    >>> version("no such package")
    '0+unknown'
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "0+unknown"
