"""The label colour map of VOC, as an array and as files. Source: VOC development kit, VOClabelcolormap."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.tasks.segmentation.png import voc_colours
from vocboard.evaluator.whole_output import whole_file

MAX_COLOURS = 256
SUFFIXES = (".txt", ".csv", ".json", ".npy", ".gpl")


def label_colour_map(number: int = MAX_COLOURS) -> NDArray[np.uint8]:
    """Return (n, 3) red, green and blue, 0 to 255, of the first labels; label 255 is void.

    Args:
        number: number of labels, 1 to 256.

    >>> label_colour_map(3).tolist()
    [[0, 0, 0], [128, 0, 0], [0, 128, 0]]
    """
    return np.frombuffer(voc_colours(number), dtype=np.uint8).reshape(number, 3)


def write_colour_map(output: Path, number: int = MAX_COLOURS) -> None:
    """Write the colour map: one line per label (.txt), with a heading (.csv), a list (.json), an array (.npy), or a
    palette of GIMP and Inkscape (.gpl).

    Raises:
        ValueError: the number is not 1 to 256, or the suffix is not one of `SUFFIXES`.
        OSError: the file cannot be written.
    """  # one sentence that names all kinds
    if not 1 <= number <= MAX_COLOURS:
        raise ValueError(f"a colour map has 1 to {MAX_COLOURS} colours, not {number}")
    if output.suffix not in SUFFIXES:
        raise ValueError(f"{output.name} does not end in {', '.join(SUFFIXES)}")
    colours = label_colour_map(number)
    rows = colours.tolist()
    with whole_file(output) as unfinished:
        match output.suffix:
            case ".npy":
                with unfinished.open("wb") as file:
                    np.save(file, colours)
            case ".json":
                unfinished.write_text(json.dumps(rows) + "\n")
            case ".csv":
                lines = [f"{label},{','.join(map(str, row))}" for label, row in enumerate(rows)]
                unfinished.write_text("\n".join(["label,red,green,blue", *lines, ""]))
            case ".gpl":
                lines = [f"{row[0]:3} {row[1]:3} {row[2]:3}\tlabel {label}" for label, row in enumerate(rows)]
                unfinished.write_text("\n".join(["GIMP Palette", "Name: VOC labels", "#", *lines, ""]))
            case _:
                unfinished.write_text("".join(f"{row[0]} {row[1]} {row[2]}\n" for row in rows))
