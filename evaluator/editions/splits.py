"""Editions for other image sets, like the kits' `testset='val'`."""

from dataclasses import replace

from vocboard.evaluator.rules import Edition


def for_image_set(edition: Edition, image_set: str) -> Edition:
    """Return the edition with all competitions scored on one image set, which is part of the result file names.

    Source: VOC2010 document, section 8.1: "by default VOCinit sets ... testset to 'val'".

    >>> from vocboard.evaluator.editions.loader import load
    >>> for_image_set(load("VOC2007"), "val").competitions["comp4"].result_file
    'Main/comp4_det_val_{class}.txt'
    """
    competitions = {key: replace(each, image_set=image_set) for key, each in edition.competitions.items()}
    return replace(edition, competitions=competitions)


def image_sets_of(edition: Edition) -> tuple[str, ...]:
    """Return the image sets of the edition's competitions."""
    return tuple(dict.fromkeys(competition.image_set for competition in edition.competitions.values()))
