"""Draws timeline.svg: the decision in force against the reference, with two stale stretches.

python docs/images/timeline.py
"""

from __future__ import annotations

from pathlib import Path

END_S = 30
REFERENCE = ((0, 8, "record"), (8, 20, "pause"), (20, END_S, "record"))
IN_FORCE = ((0, 11, "record"), (11, 23, "pause"), (23, END_S, "record"))
COLOURS = {"record": "#1f5f7a", "pause": "#7a5c1f", "stale": "#b4552d"}
LEFT, WIDTH, HEIGHT = 92, 410, 36


def stale() -> list[tuple[float, float]]:
    """Where the decision in force is not the reference."""
    found = []
    for begin, end, decision in IN_FORCE:
        for since, until, right in REFERENCE:
            low, high = max(begin, since), min(end, until)
            if low < high and decision != right:
                found.append((low, high))
    return found


def correct() -> list[tuple[float, float, str]]:
    """Where the decision in force is the reference."""
    return [
        (max(begin, since), min(end, until), decision)
        for begin, end, decision in IN_FORCE
        for since, until, right in REFERENCE
        if max(begin, since) < min(end, until) and decision == right
    ]


def bar(top: int, begin: float, end: float, colour: str, text: str) -> str:
    x, width = LEFT + WIDTH * begin / END_S, WIDTH * (end - begin) / END_S
    return (
        f'<rect x="{x:.1f}" y="{top}" width="{width:.1f}" height="{HEIGHT}" fill="{colour}"'
        ' stroke="#fff" stroke-width="2"/>'
        f'<text x="{x + width / 2:.1f}" y="{top + 23}" fill="#fff" text-anchor="middle">{text}</text>'
    )


def label(x: float, y: float, text: str, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" fill="#222" text-anchor="{anchor}" font-weight="{weight}">'
        f"{text}</text>"
    )


def draw() -> str:
    wrong = sum(end - begin for begin, end in stale())
    share = 100 * (END_S - wrong) / END_S
    parts = [bar(44, *row[:2], COLOURS[row[2]], row[2]) for row in REFERENCE]
    parts += [bar(96, *row, COLOURS[decision], decision) for *row, decision in correct()]
    parts += [bar(96, *row, COLOURS["stale"], "stale") for row in stale()]
    parts += [
        label(10, 28, "“my card number is …” at 8 s, last digit at 20 s"),
        label(10, 67, "right"),
        label(10, 119, "in force"),
        label(10, 152, "seconds"),
        *(
            label(LEFT + WIDTH * at / END_S, 152, f"{at}", "middle")
            for at in (0, 8, 11, 20, 23, 30)
        ),
        label(10, 182, f"Right {share:.0f} % of the time.", weight="bold"),
        label(10, 204, f"Every answer was right. {wrong} of {END_S} s were lost to latency."),
    ]
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 520 220" role="img" font-size="15"'
        ' font-family="system-ui, sans-serif" aria-label="Decision in force against reference">'
        '<rect width="520" height="220" rx="8" fill="#f7f7f4"/>' + "".join(parts) + "</svg>\n"
    )


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(draw(), encoding="utf-8")
