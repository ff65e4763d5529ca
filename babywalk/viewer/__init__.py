"""The viewer: episodes and the paths of agents on a web page, as one file or served live."""
