"""Person layout files: each element's problems, where they are."""

import pytest

from tests.evaluator.uploads import image_sets
from vocboard.evaluator.editions import Limits, Task, load
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Layouts
from vocboard.evaluator.tasks.layout.reader import read_layouts

BOX = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4.5</ymax></bndbox>"
HEAD = f"<part><class>head</class>{BOX}</part>"


def layout(
    image: str = "000001", person: str = "<object>1</object>", confidence: str = "0.5", parts: str = HEAD
) -> str:
    return f"<layout>\n<image>{image}</image>\n{person}\n<confidence>{confidence}</confidence>\n{parts}\n</layout>\n"


def results(*layouts: str) -> str:
    return "<results>\n" + "".join(layouts) + "</results>\n"


def read(text: str | bytes, edition: str = "VOC2012", known: bool = True) -> tuple[Layouts | None, FileReport]:
    report = FileReport("layout.xml")
    items = Items(Task.LAYOUT, image_sets(edition).sets[Task.LAYOUT, "test"] if known else None)
    rules = load(edition).competitions["comp7"].rules
    data = text.encode() if isinstance(text, str) else text
    parts = ("head", "hand", "foot")
    return read_layouts(data, rules.layout_protocol, parts, items=items, limits=Limits(), report=report), report


def found(text: str | bytes, edition: str = "VOC2012") -> list[tuple[str, int | None]]:
    content, report = read(text, edition)
    assert (content is None) == report.has_errors
    return [(problem.code, problem.line) for problem in report.problems()]


class TestValidFiles:
    def test_people_by_object_index(self) -> None:
        hand = HEAD.replace("head", "hand")
        content, report = read(results(layout(parts=HEAD + hand), layout("000003", "<object>2</object>", "-1189", "")))
        assert content.image.tolist() == [0, 2]
        assert content.object.tolist() == [1, 2]
        assert content.person_box is None
        assert content.confidence.tolist() == [0.5, -1189.0]
        assert content.part_layout.tolist() == [0, 0]
        assert content.part_type.tolist() == [0, 1]
        assert content.part_box.tolist() == [[1, 2, 3, 4.5]] * 2
        assert report.problems() == []

    def test_people_by_box_in_2007(self) -> None:
        content, report = read(results(layout(person=BOX)), "VOC2007")
        assert content.object is None
        assert content.person_box.tolist() == [[1, 2, 3, 4.5]]
        assert report.problems() == []

    def test_white_space_comments_and_a_declaration_do_not_matter(self) -> None:
        text = '<?xml version="1.0" encoding="latin-1"?><!-- made by us -->' + results(layout("\n 000001\t"))
        assert found(text.replace("\n", "\r\n")) == []

    def test_lines_are_right_beyond_65535(self) -> None:
        assert found("<results>" + "\n" * 70_000 + layout("000009") + "</results>") == [("unknown_image", 70_002)]


class TestErrors:
    @pytest.mark.parametrize(
        ("wrong", "code", "line"),
        [
            (layout("000009"), "unknown_image", 3),
            (layout(person="<object>0</object>"), "object_index_zero", 4),
            (layout(confidence="nan"), "not_finite", 5),
            (layout(confidence=""), "not_a_number", 5),
            (layout(person=""), "missing_element", 2),
            (layout(person="<object>1</object><object>2</object>"), "repeated_element", 4),
            (layout(parts="<score>1</score>"), "unexpected_element", 6),
            (layout(parts=HEAD.replace("head", "nose")), "unknown_part", 6),
            (layout(parts=HEAD.replace(BOX, "")), "missing_element", 6),
            (layout(parts=HEAD.replace("4.5", "x")), "not_a_number", 6),
            (layout(parts=HEAD.replace("<ymax>4.5</ymax>", "")), "missing_element", 6),
            (layout(parts="<part>" * 5 + "</part>" * 5), "xml_too_deep", 6),
            (layout(parts="<part/>" * 101), "too_many_parts", 2),
            (layout(parts="<part/>" * 2_000), "xml_too_large", 6),
            (layout(confidence="1" * 2_000), "xml_text_too_long", 5),
            ("<person/>", "unexpected_element", 2),
            ("<layout>", "xml_syntax", 2),
            ("&nbsp;", "xml_syntax", 2),
        ],
    )
    def test_one_wrong_element_is_one_problem_in_its_line(self, wrong: str, code: str, line: int) -> None:
        assert found(results(wrong)) == [(code, line)]

    def test_the_slip_of_the_documents_example_is_recognised(self) -> None:
        _, report = read(results(layout(parts=HEAD.replace("ymax", "ymin"))))
        (problem,) = report.problems()
        assert (problem.code, problem.line) == ("repeated_element", 6)
        assert "meant to be <ymax>" in problem.message

    def test_the_other_way_of_naming_people_is_reported_with_what_is_expected(self) -> None:
        assert found(results(layout(person=BOX))) == [("missing_element", 2), ("unexpected_element", 4)]
        assert found(results(layout()), "VOC2007") == [("missing_element", 2), ("unexpected_element", 4)]

    @pytest.mark.parametrize(
        "text",
        [
            '<!DOCTYPE results [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><results>&b;</results>',
            '<!DOCTYPE results SYSTEM "file:///etc/passwd"><results/>',
            '<!DOCTYPE results [<!ENTITY x SYSTEM "http://127.0.0.1/">]><results>&x;</results>',
        ],
    )
    def test_a_document_type_ends_the_reading(self, text: str) -> None:
        assert found(text) == [("xml_forbidden", 1)]
        assert found(text.encode("utf-16")) == [("xml_forbidden", 1)]

    @pytest.mark.parametrize("data", [b"", b"000001 0.5", b"<results>", b"\xff\xfe", b"<results>\xff</results>"])
    def test_what_is_not_a_xml_is_one_problem(self, data: bytes) -> None:
        assert [code for code, _ in found(data)] == ["xml_syntax"]

    def test_a_file_that_is_wrong_all_over_is_not_read_to_its_end(self) -> None:
        codes = [code for code, _ in found(results("<layout/>\n" * 100_000))]
        assert codes == ["missing_element"] * 20 + ["more_problems", "reading_stopped"]

    def test_another_root_is_refused(self) -> None:
        assert found("<annotation/>") == [("not_a_layout", 1)]


class TestWarnings:
    def test_second_and_unlisted_layouts_are_counted_at_the_first(self) -> None:
        other = layout(person="<object>7</object>")
        content, report = read(results(layout(), layout(), layout(), other))
        assert len(content.image) == 4
        repeated, unlisted = report.problems()
        assert (repeated.code, repeated.line) == ("repeated_layout", 8)
        assert repeated.message.startswith("2 of 4 layouts")
        assert (unlisted.code, unlisted.line) == ("unlisted_person", 20)

    @pytest.mark.parametrize(
        ("edition", "scored"),
        [
            ("VOC2008", "all are scored, at most one of each person can be right"),
            ("VOC2009", "all are scored, at most one of each person can be right"),
            ("VOC2010", "only the most confident one of each person is scored"),
            ("VOC2012", "only the most confident one of each person is scored"),
        ],
    )
    def test_second_layouts_are_reported_with_the_editions_rule(self, edition: str, scored: str) -> None:
        _, report = read(results(layout(), layout()), edition)
        [problem] = report.problems()
        assert problem.message == f"1 of 2 layouts (the first here) of a person who already has one; {scored}. " + (
            "Write one layout per person."
        )

    def test_boxes_that_can_match_nothing(self) -> None:
        upside_down = HEAD.replace("<xmin>1<", "<xmin>5<")
        outside = HEAD.replace("<xmin>1<", "<xmin>10<").replace("<xmax>3<", "<xmax>11<")
        text = results(layout(parts=upside_down + "\n" + outside))
        assert found(text) == [("box_upside_down", 6), ("box_outside_image", 7)]

    def test_unknown_test_data_takes_any_person(self) -> None:
        content, report = read(results(layout("anything", "<object>9</object>")), known=False)
        assert content is not None
        assert report.problems() == []

    def test_no_layout_at_all(self) -> None:
        assert found("<results/>") == [("empty_file", None)]
