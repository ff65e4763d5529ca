"""`python -m babywalk`."""

from babywalk.cli import main

raise SystemExit(main())
