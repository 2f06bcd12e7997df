"""Custom edition files: all errors are reported at once, each with its line, and no input does harm."""

import contextlib
import random
import tomllib
from pathlib import Path

import jsonschema_rs
import pytest

from vocboard.evaluator.declarations import TRAINING_DATA, Declaration, DeclarationKind
from vocboard.evaluator.editions import (
    EditionFileError,
    WithoutPositives,
    load,
    names,
    read,
    read_text,
    source,
)
from vocboard.evaluator.editions.column_names import reserved_name
from vocboard.evaluator.editions.json_schema import edition_json_schema
from vocboard.evaluator.rules import Overlap

GOOD = """\
name = "ROADS"
title = "Roads"
classes = ["car", "bus"]

[tasks.detection]
file = "{competition}_{image_set}_{class}.txt"
metric = "average_precision"
interpolation = "11-point"
declarations = { any = ["training_data"] }

[tasks.segmentation]
file = "maps/{competition}/{image}.png"
metric = "intersection_over_union"

[[competitions]]
number = 1
task = "detection"
training = "any"
image_set = "val"

[[competitions]]
key = "maps"
task = "segmentation"
training = "trainval"
image_set = "val"
"""

HUGE = "1" + "0" * 400  # more than a float can be

WRONG = """\
name = "ROADS 1"
titel = "Roads"
classes = [
    "car",
    "Car",
]

[overlap]
threshold = 1.5

[tasks.detection]
file = "{competition}_{clas}.txt"
metric = "roc_auc"
interpolation = "11-point"

[[competitions]]
number = 1
task = "detection"
training = "any"
image_set = "val"

[[competitions]]
number = 2
task = "layout"
traning = "any"
image_set = "../val"
"""


def mistakes(text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(EditionFileError) as raised:
        read_text(text, "own.toml")
    return [(mistake.line, mistake.message) for mistake in raised.value.mistakes]


def test_a_good_file_is_read() -> None:
    edition = read_text(GOOD, "own.toml")
    assert list(edition.competitions) == ["comp1", "maps"]
    assert edition.competitions["comp1"].declarations == (TRAINING_DATA,)
    assert edition.competitions["maps"].declarations == ()
    assert edition.competitions["comp1"].classes == ("car", "bus")
    assert edition.competitions["comp1"].image_set == "val"
    assert edition.parts == edition.actions == ()


DEFINED = """
[declarations.parameters]
title = "Parameters"
kind = "number"
unit = "million"

[declarations.licence]
title = "Licence"
kind = "choice"
choices = { open = "Apache 2.0", none = "not released" }
required = false
"""


def test_an_edition_can_define_declarations() -> None:
    text = GOOD.replace('["training_data"]', '["training_data", "licence", "parameters"]') + DEFINED
    declared = read_text(text, "own.toml").competitions["comp1"].declarations
    assert declared == (
        TRAINING_DATA,
        Declaration(
            "licence",
            "Licence",
            DeclarationKind.CHOICE,
            {"open": "Apache 2.0", "none": "not released"},
            is_required=False,
        ),
        Declaration("parameters", "Parameters", DeclarationKind.NUMBER, unit="million"),
    )
    assert read_text(text, "own.toml").competitions["comp1"].figures == declared[2:]


def test_groups_of_classes() -> None:
    groups = '[groups]\nvehicles = ["bus", "car"]\n"small ones" = ["car"]\n'
    edition = read_text(f"{GOOD}\n{groups}", "own.toml")
    assert edition.competitions["comp1"].rules.groups == (("vehicles", ("bus", "car")), ("small ones", ("car",)))
    wrong = '[groups]\nnone = []\nother = ["tram"]\n"" = ["car"]\nnot-a-list = "car"\n'
    assert [told for _, told in mistakes(f"{GOOD}\n{wrong}")] == [
        "groups.none must be a list of classes, not [].",
        "groups.other must be a list of classes, not ['tram'].",
        "groups. must be a group with a name of at most 30 characters in one line, not ['car'].",
        "groups.not-a-list must be a list of texts, not 'car'.",
    ]
    many = "\n".join(f'g{number} = ["car"]' for number in range(21))
    assert [told for _, told in mistakes(f"{GOOD}\n[groups]\n{many}")] == [
        "groups.g20 must be left out, because 20 groups are the most, not ['car']."
    ]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('kind = "number"', 'kind = "numbr"', "declarations.parameters.kind must be one of text, choice, number"),
        ('kind = "number"', 'kind = "text"', 'declarations.parameters.unit must be left out, unless kind is "number"'),
        ('unit = "million"', "unit = 6", "declarations.parameters.unit must be a text"),
        ('unit = "million"', 'units = "million"', "declarations.parameters.units: no such key."),
        ('title = "Licence"', "", "declarations.licence.title must be a text, but it is missing"),
        (
            'kind = "choice"',
            'kind = "number"',
            'declarations.licence.choices must be left out, unless kind is "choice"',
        ),
        (', none = "not released"', "", "declarations.licence.choices must be a table of 2 to 20 values"),
        ("open =", "Open =", "declarations.licence.choices.Open must be a value of up to 40 lower-case letters"),
        ("required = false", 'required = "no"', "declarations.licence.required must be true or false"),
        ("[declarations.licence]", "[declarations.training_data]", "declarations.training_data must be a table with"),
        ("[declarations.licence]", "[declarations.method_name]", "declarations.method_name must be a table with"),
        ("[declarations.licence]", '[declarations."ms per image"]', "declarations.ms per image must be a table whose"),
        ('any = ["training_data"]', 'any = ["parametres"]', "tasks.detection.declarations.any must be names out of"),
    ],
)
def test_mistakes_of_defined_declarations_are_reported(before: str, after: str, message: str) -> None:
    text = GOOD + DEFINED
    assert before in text
    assert any(told.startswith(message) for _, told in mistakes(text.replace(before, after)))


def test_no_class_can_be_called_like_the_column_of_a_declaration() -> None:
    edition = read_text(
        GOOD.replace('["training_data"]', '["parameters"]').replace('"car"', '"declared_parameters"') + DEFINED,
        "own.toml",
    )
    assert reserved_name(edition).startswith("Rename declared_parameters:")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("threshold = 0.7", Overlap(0.7, strict=False)), ("strict = true", Overlap(0.5, strict=True))],
)
def test_either_key_of_the_overlap_has_a_default(keys: str, expected: Overlap) -> None:
    assert read_text(f"{GOOD}\n[overlap]\n{keys}\n", "own.toml").overlap == expected


def test_all_errors_are_reported_at_once_with_their_lines() -> None:
    told = [(line, message.split(" ")[0]) for line, message in mistakes(WRONG)]
    assert told == [
        (None, "title"),
        (1, "name"),
        (2, "titel:"),
        (3, "classes"),
        (9, "overlap.threshold"),
        (12, "tasks.detection.file"),
        (13, "tasks.detection.metric"),
        (22, "competitions[2].training"),
        (24, "competitions[2].task"),
        (25, "competitions[2].traning:"),
        (26, "competitions[2].image_set"),
    ]


def test_the_message_has_a_line_for_each() -> None:
    with pytest.raises(EditionFileError) as raised:
        read_text(WRONG, "own.toml")
    lines = str(raised.value).split("\n")
    assert lines[2] == "own.toml:2: titel: no such key. Did you mean title?"
    assert lines[0] == "own.toml: title must be a text, but it is missing."


def test_every_broken_line_is_reported() -> None:
    broken = GOOD.replace('title = "Roads"', "title = Roads").replace("number = 1", "number == 1")
    assert [line for line, _ in mistakes(broken)] == [2, 16]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path, line_end: str) -> None:
    file = tmp_path / "own.toml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", line_end).encode())
    assert read(file) == read_text(GOOD, "own.toml")


def test_what_is_not_utf_8_is_reported_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_bytes(GOOD.encode().replace(b"Roads", b"Stra\xdfen"))
    with pytest.raises(EditionFileError, match=r"^own.toml:2: not a TOML file: This is not UTF-8.$"):
        read(tmp_path / "own.toml")


@pytest.mark.parametrize(
    ("found", "wrong", "line", "message"),
    [
        ("{class}", "{class!r:>1000000000}", 6, "must be a file name with fields out of"),
        ("{class}", "{class.__class__}", 6, "must be a file name with fields out of"),
        ("{competition}_", "../{competition}_", 6, "must be a file name of letters, digits"),
        ("{competition}_", "/etc/{competition}_", 6, "must be a file name of letters, digits"),
        ("maps/{competition}/{image}", "{competition}{image}", 12, "must be a folder for each competition"),
        ('"bus"', '"a/b"', 3, "must be a list of names without spaces"),
        ('"bus"', '"a b"', 3, "must be a list of names without spaces"),
        ('"bus"', '"background"', 3, 'none "background"'),
        ('"bus"', '"{image_set}"', 3, "must be a list of names without spaces"),
        ("number = 1", f"number = {'9' * 40}", 16, "must be a whole number of at most 26 digits"),
        ("number = 1", f"number = {'9' * 5000}", None, "not a TOML file"),
        ("number = 1", 'key = "maps"', 22, "must be the competition's own"),
        ('title = "Roads"', 'title = "Roads\\nand more"', 2, "must be a text in one line"),
        ('"training_data"', '"data"', 9, "must be names out of training_data, training_annotation"),
        ("any = [", "some = [", 9, "no such key"),
        ('"intersection_over_union"', '"average_precision"', 13, "must be one of intersection_over_union"),
        ('"intersection_over_union"', '"intersection_over_unio"', 13, "Did you mean intersection_over_union?"),
        ('metric = "average', 'secondary = ["average_precision"]\nmetric = "average', 7, "other measures than the"),
        ("[tasks.segmentation]", "[[tasks.segmentation]]", 11, "tasks.segmentation must be a table"),
        ("declarations", 'roc = "straight-lines"\ndeclarations', 9, "must be left out, unless a measure is"),
        ('"11-point"', '"area"\nwithout_positives = "zero"', 9, 'must be "undefined", unless interpolation is'),
        ('"11-point"', '"11-point"\nwithout_positives = 0', 9, "must be one of undefined, zero"),
        ('title = "Roads"', "title = 7", 2, "title must be a text, not 7"),
        ('["car", "bus"]', '["car", "car"]', 3, "classes must be a list without repetitions"),
        ('["car", "bus"]', "[]", 3, "classes must be a list of 1 to 254 names"),
        ("classes =", f"parts = {[f'p{n}' for n in range(128)]}\nclasses =", 3, "must be a list of 1 to 127 names"),
        ('"11-point"', '"12-point"', 8, "tasks.detection.interpolation must be one of 11-point, area, not '12-point'"),
        ("{class}", "{class", 6, "tasks.detection.file must be a file name with fields out of {class}, {competition}"),
        ("metric =", 'secondary = ["precision"]\nmetric =', 7, "secondary must be names out of average_precision"),
        ("metric =", 'board = ["roc_auc"]\nmetric =', 7, "board must be names out of the secondary measures"),
        ("metric =", "confidence_range = [1, 0]\nmetric =", 7, "must be two numbers, the lesser one first"),
        ("metric =", "confidence_range = [false, true]\nmetric =", 7, "must be two numbers, the lesser one first"),
        ("metric =", f"confidence_range = [0, {HUGE}]\nmetric =", 7, "must be two numbers, the lesser one first"),
        ("[tasks.det", f"[overlap]\nthreshold = {HUGE}\n[tasks.det", 6, "threshold must be a number from 0 on"),
        ("[tasks.det", f"[limits]\nabsolute_number = {HUGE}\n[tasks.det", 6, "number must be a number from 0 on"),
        ("metric =", "metrik =", 7, "tasks.detection.metrik: no such key"),
        ("metric =", "metrik =", 5, "tasks.detection.metric must be one of average_precision"),
        ("[tasks.det", "[tasks.poses]\n[tasks.det", 5, "poses: no such key. A task that is not built in needs an"),
        ("[tasks.det", '[annotations]\nformat = "json"\n[tasks.det', 6, "must be one of xml, pascal-text, lines"),
        (
            "[tasks.detection]",
            '[annotations]\nformat = "pascal-text"\n[annotations.labels]\nPAScat = "cat"\n[tasks.detection]',
            8,
            "annotations.labels.PAScat must be one of the classes, not 'cat'",
        ),
        ("[tasks.detection]", "[limits]\nlines = 5\n[tasks.detection]", 6, "limits.lines: no such key"),
        ("[tasks.detection]", "[overlap]\nstrict = 1\n[tasks.detection]", 6, "overlap.strict must be true or false"),
        ("number = 1", 'key = "Roads 1"', 16, "competitions[1].key must be up to 30 lower-case letters"),
        ("number = 1", "number = 0", 16, "competitions[1].number must be a whole number from 1 on, not 0"),
        ('task = "detection"', 'task = "action"', 17, "competitions[1].task must be a task that has its own table"),
        ('training = "any"', 'training = "some"', 18, "competitions[1].training must be one of trainval, any"),
        ("name =", "name", 1, "not a TOML file"),
    ],
)
def test_what_does_not_fit_is_reported_at_its_line(found: str, wrong: str, line: int | None, message: str) -> None:
    assert found in GOOD
    told = mistakes(GOOD.replace(found, wrong, 1))
    assert any(number == line and message in text for number, text in told), told


def test_a_task_needs_what_it_scores() -> None:
    action = '[tasks.action]\nfile = "{class}.txt"\nmetric = "average_precision"\ninterpolation = "area"\n'
    assert (None, "actions must be a list of names, for [tasks.action], but it is missing.") in mistakes(GOOD + action)


def test_a_class_without_positives_is_undefined_unless_the_file_says_otherwise() -> None:
    zero = GOOD.replace('"11-point"', '"11-point"\nwithout_positives = "zero"')
    for text, expected in ((GOOD, WithoutPositives.UNDEFINED), (zero, WithoutPositives.ZERO)):
        assert read_text(text, "own.toml").competitions["comp1"].rules.without_positives is expected


def test_limits_can_be_lowered() -> None:
    limits = read_text(f"{GOOD}\n[limits]\ndetections_per_image = 100\nabsolute_number = 1e6\n", "own.toml").limits
    assert (limits.detections_per_image, limits.absolute_number) == (100, 1e6)


def test_a_competition_may_go_without_a_number() -> None:
    text = GOOD.replace("number = 1", 'key = "detection"').replace("_{class}", "")
    competition = read_text(text, "own.toml").competitions["detection"]
    assert competition.number is None
    assert competition.rules.class_in_lines


def test_competitions_are_a_list_of_tables_whose_files_have_different_names() -> None:
    before, first, _ = GOOD.split("[[competitions]]\n")
    told = mistakes(f"{before}[competitions]\n{first}")
    assert any(message.startswith("competitions must be a list of tables") for _, message in told), told
    two = GOOD.replace("{competition}_", "").replace(
        'key = "maps"\ntask = "segmentation"', 'key = "b"\ntask = "detection"'
    )
    assert any("must be a file name that tells comp1 from b" in message for _, message in mistakes(two)), mistakes(two)


def test_there_are_at_most_16_competitions() -> None:
    more = '[[competitions]]\nnumber = {}\ntask = "detection"\ntraining = "any"\nimage_set = "val"\n'
    assert len(read_text(GOOD + "".join(map(more.format, range(2, 16))), "own.toml").competitions) == 16
    [(_, message)] = mistakes(GOOD + "".join(map(more.format, range(2, 17))))
    assert message.startswith("competitions must be a list of 1 to 16 competitions")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a" * 70_000,
        "x = " + "[" * 20_000,
        "\x00",
        "[[competitions]]",
        "competitions = [1, 2]",
        "tasks = 1",
        "=" * 99,
    ],
)
def test_whatever_a_file_holds_it_is_reported(text: str) -> None:
    assert mistakes(text)


def test_files_changed_at_random_are_read_or_told() -> None:
    chance = random.Random(1)
    for _ in range(300):
        lines = GOOD.split("\n")
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(lines))
            action = chance.choice(("drop", "double", "cut", "swap"))
            if action == "drop":
                del lines[at]
            elif action == "double":
                lines.insert(at, lines[at])
            elif action == "cut":
                lines[at] = lines[at][: chance.randint(0, len(lines[at]))]
            else:
                lines[at] = lines[at].replace('"', chance.choice(("", "'", "[")))
        with contextlib.suppress(EditionFileError):
            assert read_text("\n".join(lines), "own.toml").competitions


@pytest.mark.parametrize("name", names())
def test_the_file_of_an_edition_can_be_had(name: str) -> None:
    assert read_text(source(name), f"{name}.toml") == load(name)


@pytest.mark.parametrize(
    "addition",
    [
        "[" + ".".join(["a"] * 30_000) + "]",
        ".".join(["a"] * 5_000) + " = 1",
        ".".join(['"a"', "'b'"] * 60) + " = 1",
        "x = {" + ".".join(["a"] * 5_000) + " = 1}",
        "x = " + "[" * 300 + "]" * 300,
    ],
)
def test_nesting_without_end_is_refused_at_once(addition: str) -> None:
    with pytest.raises(EditionFileError, match="nested too deeply"):
        read_text(f"{GOOD}\n{addition}\n", "roads.toml")


def test_dots_in_texts_and_comments_are_no_nesting() -> None:
    dots = "." * 150
    assert (
        read_text(GOOD.replace('title = "Roads"', f'title = "Roads \\"{dots}" # "{dots}'), "roads.toml").name == "ROADS"
    )


def test_the_json_schema_refuses_only_what_the_reader_refuses() -> None:
    schema = jsonschema_rs.validator_for(edition_json_schema())
    examples = Path(__file__).parents[2] / "docs" / "editions" / "examples"
    for text in [GOOD, *map(source, names()), *(file.read_text() for file in examples.glob("*.toml"))]:
        schema.validate(tomllib.loads(text))
    lines, refused = GOOD.splitlines(), 0
    for place, line in enumerate(lines):
        key, _, value = line.partition(" = ")
        for changed in ("", f"{key}s = {value}", f"{key} = 7", f'{key} = ""', f"{key} = []"):
            text = "\n".join([*lines[:place], changed, *lines[place + 1 :]])
            with contextlib.suppress(tomllib.TOMLDecodeError):
                if not schema.is_valid(tomllib.loads(text)):
                    refused += 1
                    with pytest.raises(EditionFileError):
                        read_text(text, "own.toml")
    assert refused > 50
