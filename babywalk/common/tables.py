"""Tables as plain text and as Markdown, and byte counts as text."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a header; the first column is left-aligned, the others right-aligned."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [
        "|" + "".join(f" {escaped} |" if (escaped := cell.replace("|", "\\|")) else " |" for cell in line)
        for line in (header, *rows)
    ]
    lines.insert(1, "|" + "---|" * len(header))
    return "\n".join(lines)


def format_bytes(count: float) -> str:
    """A number of bytes with a unit, as in 1.5 KB."""
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
