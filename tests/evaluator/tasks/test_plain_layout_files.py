"""Plain layout files: the regular expression reads them, and gives what the element reader gives, to the last bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocboard.evaluator.editions import LayoutProtocol, Limits, Task
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.tasks.layout import plain_files as plain_layouts
from vocboard.evaluator.tasks.layout import reader as layouts
from vocboard.evaluator.tasks.layout.plain_files import read_plain_layouts

PARTS = ("head", "hand", "foot")
PEOPLE = np.array([(0, 1), (1, 1), (2, 1), (2, 2)], dtype=np.int32)
KNOWN = ImageSet(("000001", "000002", "2008_000003"), np.full((3, 2), 500, dtype=np.int32), PEOPLE)
LIMITS = Limits(characters_per_line=400, parts_per_layout=5)
HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'
OF_THE_KIT = """<results>
	<layout>
		<image>000001</image>
		<object>1</object>
		<confidence>-1189.25</confidence>
		<part>
			<class>head</class>
			<bndbox>
				<xmin>191.5</xmin>
				<ymin>25</ymin>
				<xmax>323</xmax>
				<ymax>209</ymax>
			</bndbox>
		</part>
	</layout>
</results>
"""

usual_numbers = st.floats(-1e3, 1e3).map(repr) | st.integers(-9, 999).map(str) | st.floats(-1e30, 1e30).map(repr)
odd_numbers = st.sampled_from(
    ["nan", "inf", "1e31", "1e400", "1e-400", "+1", "1_0", "1d5", "1,5", "1.", ".5", "٣", "", "-", "e5", "1 2", "-0"]
)
odd_images = st.sampled_from(["000009", "", "1", "00 01", "é", "a&amp;b", "]]>", "\x0b", "x" * 150, "x" * 500])
odd_indices = st.sampled_from(["0", "7", "01", "0000000001", "00000000001", "2147483648", "+1", "1.0", "٣"])
odd_classes = st.sampled_from(["elbow", "Head", "heads", "", "foo"])
spaces = st.sampled_from(["", "\n", "\n\t\t", " ", "\r\n  "])
odd_spaces = st.sampled_from(["\r", "\x0c", "\xa0", "x", "<!-- -->", "<?x y?>", " " * 41, " " * 300, "\n" * 500])
insertions = st.sampled_from(
    ["<part>", "</part>", "<layout>", "</layout>", "<results>", "</results>", "<bndbox>", "<xmin>1</xmin>", "<a/>"]
) | st.sampled_from(["<![CDATA[1]]>", "<!-- <layout> -->", "&#49;", "&x;", ' a="1"', "\x00", "\ufeff", "<", ">", "\r"])


class _File:
    """Draws a file; of one that is not plain, some elements are odd."""

    def __init__(self, draw: st.DrawFn, by_box: bool, *, plain: bool):
        self._draw, self._plain, self._by_box = draw, plain, by_box
        self._space = draw(spaces)
        self._sides = draw(st.permutations(("xmin", "ymin", "xmax", "ymax")))
        self._of_person = draw(st.permutations(("image", "bndbox" if by_box else "object", "confidence")))
        self._of_part = draw(st.permutations(("class", "bndbox")))

    def text(self) -> str:
        layouts = [self._layout() for _ in range(self._draw(st.integers(1, 4)))]
        beginning = self._draw(st.sampled_from(["", HEADER, HEADER.replace("UTF-8", "latin-1"), "\n", "\ufeff"]))
        return beginning + self._element("results", *layouts) + self._draw(spaces)

    def _layout(self) -> str:
        parts = [self._part() for _ in range(self._draw(st.integers(0, 6 if self._is_odd() else 5)))]
        return self._element("layout", *self._children(self._of_person), *parts)

    def _part(self) -> str:
        return self._element("part", *self._children(self._of_part))

    def _children(self, names: list[str]) -> list[str]:
        if self._is_odd():
            names = self._draw(st.permutations(names))
        if self._is_odd():
            names = names[1:]
        return [self._child(name) for name in names]

    def _child(self, name: str) -> str:
        if name == "bndbox":
            return self._element(name, *self._children(self._sides))
        usual, odd = {
            "image": (st.sampled_from(KNOWN.images), odd_images),
            "object": (st.sampled_from(["1", "2"]), odd_indices),
            "class": (st.sampled_from(PARTS), odd_classes),
        }.get(name, (usual_numbers, odd_numbers))
        return self._element(name, self._draw(odd if self._is_odd() else usual))

    def _element(self, name: str, *content: str) -> str:
        space = self._draw(odd_spaces) if self._is_odd() else self._space
        return space.join((f"<{name}>", *content, f"</{name}>"))

    def _is_odd(self) -> bool:
        return not self._plain and self._draw(st.integers(0, 30)) == 0


@st.composite
def plain_files(draw: st.DrawFn, by_box: bool) -> str:
    return _File(draw, by_box, plain=True).text()


@st.composite
def files(draw: st.DrawFn, by_box: bool) -> str:
    text = _File(draw, by_box, plain=draw(st.booleans())).text()
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        left_out = draw(st.sampled_from([0, 0, 1, 6, 13, 100]))
        text = text[:start] + draw(insertions | st.just("")) + text[start + left_out :]
    return text


def read(data: bytes, by_box: bool, known: bool, *, by_element: bool) -> tuple[Layouts | None, list[Problem]]:
    report = FileReport("layout.xml")
    items = Items(Task.LAYOUT, KNOWN if known else None)
    protocol = LayoutProtocol.WHOLE_PERSON_BY_BOX if by_box else LayoutProtocol.PARTS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_layouts, "_BLOCK_BYTES", 500)
        patch.setattr(plain_layouts, "_MAX_BLOCK_BYTES", 10_000)
        if by_element:
            patch.setattr(layouts, "read_plain_layouts", lambda *_, **__: None)
        content = layouts.read_layouts(
            data, protocol, PARTS, items=items, limits=LIMITS, report=report, confidence_range=(-1e20, 1e20)
        )
    return content, report.problems()


def columns(content: Layouts | None) -> dict[str, object]:
    found = {} if content is None else {field.name: getattr(content, field.name) for field in fields(content)}
    return {name: None if each is None else (each.dtype, each.shape, each.tobytes()) for name, each in found.items()}


def is_plain(data: bytes, by_box: bool = False, limits: Limits = LIMITS) -> bool:
    return read_plain_layouts(data, by_box, PARTS, Items(Task.LAYOUT, KNOWN), limits) is not None


@pytest.mark.parametrize("by_box", [False, True])
@given(data=st.data())
def test_both_readers_give_the_same_content_and_problems(by_box: bool, data: st.DataObject) -> None:
    text = data.draw(files(by_box)).encode()
    for known in (False, True):
        content, problems = read(text, by_box, known, by_element=False)
        expected, expected_problems = read(text, by_box, known, by_element=True)
        assert problems == expected_problems
        assert columns(content) == columns(expected)


@pytest.mark.parametrize("by_box", [False, True])
@given(data=st.data())
def test_plain_files_are_read_by_it(by_box: bool, data: st.DataObject) -> None:
    assert is_plain(data.draw(plain_files(by_box)).encode(), by_box)


def test_what_the_development_kits_write_is_plain() -> None:
    assert is_plain(OF_THE_KIT.encode())
    assert is_plain(OF_THE_KIT.replace("\n", "\r\n").encode())
    assert is_plain((HEADER + OF_THE_KIT).encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<results>", "<!DOCTYPE results><results>"),
        ("<results>", '<results xmlns="x">'),
        ("<layout>", "<!-- ours --><layout>"),
        ("<layout>", "text<layout>"),
        ("000001", "<![CDATA[000001]]>"),
        ("000001", "00000&#49;"),
        ("000001", "000009"),
        ("000001", " " * 41 + "000001"),
        ("<object>1", "<object>0"),
        ("<object>1", "<object>2147483648"),
        ("<object>1</object>", ""),
        ("191.5", "nan"),
        ("191.5", "1e31"),
        ("191.5", "1-5"),
        ("<xmax>", "<ymin>"),
        ("head", "nose"),
        ("</layout>", "</layout></layout>"),
        ("</layout>", ""),
        ("<part>", "</layout><part>"),
        ("</part>", "</part><image>000001</image>"),
        ("</results>", ""),
        ("</results>", "</results>x"),
    ],
)
def test_what_is_wrong_or_not_plain_is_left_to_the_element_reader(old: str, new: str) -> None:
    assert not is_plain(OF_THE_KIT.replace(old, new).encode())


def test_elements_with_more_text_or_parts_than_the_limits_allow_are_left_to_the_element_reader() -> None:
    assert is_plain(OF_THE_KIT.encode(), limits=Limits(characters_per_line=200))
    assert not is_plain(OF_THE_KIT.encode(), limits=Limits(characters_per_line=199))
    assert not is_plain(OF_THE_KIT.encode(), limits=Limits(parts_per_layout=0))
    assert not is_plain(b"<results><layout>" + b"<part>" * 100_000)


@given(number=st.integers(0, 49), line_end=st.sampled_from(["\n", "\r\n", "\r"]))
@example(number=0, line_end="\n")
def test_warnings_tell_the_line_of_the_first(number: int, line_end: str) -> None:
    layout = OF_THE_KIT.removeprefix("<results>\n").removesuffix("</results>\n")
    each = [layout] * 50
    each[number] = layout.replace("<object>1<", "<object>7<").replace("191.5", "600")
    text = "<results>\n" + "".join(each) + "</results>"
    _, problems = read(text.replace("\n", line_end).encode(), by_box=False, known=True, by_element=False)
    lines = {problem.code: problem.line for problem in problems}
    lines_of_a_layout = layout.count("\n")
    first = 2 + number * lines_of_a_layout
    again = 2 + lines_of_a_layout * (2 if number < 2 else 1)
    assert lines == {"unlisted_person": first, "box_upside_down": first + 4, "repeated_layout": again}


def test_images_of_an_unknown_test_set_are_not_learnt_from_a_block_that_is_not_plain() -> None:
    items = Items(Task.LAYOUT, None)
    assert read_plain_layouts(OF_THE_KIT.replace("209", "x").encode(), False, PARTS, items, LIMITS) is None
    assert len(items.images) == 0
