"""One plain function per command of the command line."""
