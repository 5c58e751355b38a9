"""Read and write packs of levels: JSON Lines, CSV, text blocks and one board a line."""

from unjam.packs.entry import Entry
from unjam.packs.fields import Defaults
from unjam.packs.read import FORMATS, read_objects, read_pack
from unjam.packs.write import WRITABLE, write_pack

__all__ = ["FORMATS", "WRITABLE", "Defaults", "Entry", "read_objects", "read_pack", "write_pack"]
