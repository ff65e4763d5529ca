"""The Dollhouse: procedural houses, panoramas and instructions, in the raw formats of the real data.

It needs no licence and no download, and is read by the same readers as the real data.
"""

from babywalk.assets.dollhouse.house import DollHouse, build_house
from babywalk.assets.dollhouse.write import DollhouseConfig, write_dollhouse

__all__ = ["DollHouse", "DollhouseConfig", "build_house", "write_dollhouse"]
