"""Person layout: whole people as in 2007 and 2008, and part by part as from 2010 on."""

from dataclasses import dataclass, field

from tests.evaluator.reference.overlap import Box, matches, overlap

Part = tuple[str, Box]
PARTS = ("head", "hand", "foot")


@dataclass
class Person:
    image: str
    index: int
    box: Box
    parts: list[Part]
    difficult: bool = False


@dataclass
class Layout:
    image: str
    index: int
    box: Box
    confidence: float
    parts: list[Part] = field(default_factory=list)


def by_confidence(layouts: list[Layout]) -> list[Layout]:
    return sorted(layouts, key=lambda layout: -layout.confidence)


def is_right(layout: Layout, person: Person, single_part_may_be_right: bool) -> bool:
    if sorted(name for name, _ in layout.parts) != sorted(name for name, _ in person.parts):
        return False
    if len(layout.parts) == 1 and not single_part_may_be_right:
        return False
    for part_type in PARTS:
        true = [box for name, box in person.parts if name == part_type]
        found = [box for name, box in layout.parts if name == part_type]
        if not all(any(matches(f, t) for f in found) for t in true):
            return False
        if sum(any(matches(f, t) for t in true) for f in found) < len(true):
            return False
    return True


def whole_person_by_box(layouts: list[Layout], people: list[Person]) -> tuple[list[str], int]:
    """2007."""
    claimed: set[int] = set()
    marks = []
    for layout in by_confidence(layouts):
        best, best_overlap = None, 0.0
        for number, person in enumerate(people):
            found = overlap(layout.box, person.box) if person.image == layout.image else None
            if found is not None and found > best_overlap:
                best, best_overlap = number, found
        mark = "false"
        if best is not None and best_overlap >= 0.5 and best not in claimed:
            claimed.add(best)
            if people[best].parts and is_right(layout, people[best], single_part_may_be_right=False):
                mark = "true"
        marks.append(mark)
    return marks, len([person for person in people if person.parts and not person.difficult])


def whole_person_by_index(
    layouts: list[Layout], people: list[Person], single_part_may_be_right: bool
) -> tuple[list[str], int]:
    """2008, in the order given; 2009 and later when sorted by confidence before."""
    found: set[tuple[str, int]] = set()
    marks = []
    for layout in layouts:
        listed = [person for person in people if (person.image, person.index) == (layout.image, layout.index)]
        if not listed:
            marks.append("ignored")
        elif (layout.image, layout.index) in found:
            marks.append("false")
        elif is_right(layout, listed[0], single_part_may_be_right):
            found.add((layout.image, layout.index))
            marks.append("true")
        else:
            marks.append("false")
    return marks, len(people)


def parts(layouts: list[Layout], people: list[Person], part_type: str) -> tuple[list[str], int]:
    """From 2010 on."""
    seen: set[tuple[str, int]] = set()
    marks = []
    for layout in by_confidence(layouts):
        name = (layout.image, layout.index)
        listed = [person for person in people if (person.image, person.index) == name]
        if not listed or name in seen:
            continue
        seen.add(name)
        true = [box for kind, box in listed[0].parts if kind == part_type]
        claimed: set[int] = set()
        for kind, box in layout.parts:
            if kind != part_type:
                continue
            best, best_overlap = None, 0.0
            for number, true_box in enumerate(true):
                found = overlap(box, true_box)
                if found is not None and found > best_overlap:
                    best, best_overlap = number, found
            if best is not None and best_overlap >= 0.5 and best not in claimed:
                claimed.add(best)
                marks.append("true")
            else:
                marks.append("false")
    return marks, len([1 for person in people for kind, _ in person.parts if kind == part_type])
