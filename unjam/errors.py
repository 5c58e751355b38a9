"""Every error that unjam raises on purpose. An exception's docstring is its default message."""


class UnjamError(Exception):
    """unjam could not do this."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__)


class ParseError(UnjamError):
    """The puzzle cannot be read.

    ``row`` and ``column`` are counted from 1 and say where in the board; ``field`` names the entry's field.
    Each is None where it does not apply.
    """

    def __init__(
        self, message: str, *, row: int | None = None, column: int | None = None, field: str | None = None
    ) -> None:
        place = [field] if field else []
        if row is not None:
            place.append(f"row {row}")
        if column is not None:
            place.append(f"column {column}")
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.row = row
        self.column = column
        self.field = field


class PackError(UnjamError):
    """The pack as a whole cannot be read (a single bad entry is reported, not raised)."""


class MetricError(UnjamError):
    """The family has no such metric."""


class PositionError(UnjamError):
    """The position is none of the level's."""


class IllegalMove(UnjamError):
    """The rules do not allow this move."""


class VerificationError(UnjamError):
    """The solution does not hold when the rules replay it."""


class SearchError(UnjamError):
    """The search cannot be run as asked (an algorithm or heuristic that does not fit the puzzle)."""


class TableError(UnjamError):
    """The table (a pattern database or an atlas) is missing, cannot be made, or does not hold what it should."""


class SettingsError(UnjamError):
    """A setting is wrong."""


class StoreError(UnjamError):
    """The store could not do this."""


class NoSuchBatch(StoreError):
    """There is no such batch."""


class NoSuchKey(StoreError):
    """There is no such API key."""


class OrderConflict(StoreError):
    """The idempotency key stands for another order."""
