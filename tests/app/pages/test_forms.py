"""What holds of every form of the pages: the token against forged requests, names of fields, the message afterwards."""

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from fastapi.routing import APIRoute

from vocboard.app.errors import LimitedError
from vocboard.app.pages import OFTEN_REQUESTED, OTHERS
from vocboard.app.pages.forms import DONE, FormErrors, go_to
from vocboard.app.pages.rendering import STATIC_DIRECTORY, TEMPLATE_DIRECTORY
from vocboard.app.pages.wording import field_label
from vocboard.app.web.csrf import FIELD, protect_form

PAGES = STATIC_DIRECTORY.parent / "pages"
FORM = re.compile(r'<form\b(?=[^>]*method="post").*?</form>', re.DOTALL | re.IGNORECASE)
FIELDS = re.compile(r'parts\.field\w*\("(\w+)", "([^"]+)"')
TOKEN = (r"{{ parts.csrf(csrf_token()) }}", f'name="{FIELD}" value="{{{{ csrf_token() }}}}"')
# They read the form as it arrives, and verify its token before the file.
STREAMING = {
    "/challenges/{slug}/submit",
    "/organise/import",
    "/organise/{slug}/files",
    "/organise/{slug}/ground-truth",
}

# Programs for email send it without a cookie: the token in the address is the permission (RFC 8058).
ONE_CLICK = "/unsubscribe"


def strings_of(node: ast.AST) -> Iterator[str]:
    yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def test_every_form_in_the_templates_has_the_token() -> None:
    forms = [
        (template.name, form)
        for template in TEMPLATE_DIRECTORY.rglob("*.html")
        for form in FORM.findall(template.read_text())
    ]
    assert len(forms) > 40
    assert [
        (name, form) for name, form in forms if ONE_CLICK not in form and not any(token in form for token in TOKEN)
    ] == []


def test_every_handler_of_a_form_verifies_the_token() -> None:
    unprotected = {
        route.path
        for part in (*OFTEN_REQUESTED, *OTHERS)
        for route in part.router.routes
        if isinstance(route, APIRoute)
        and "POST" in route.methods
        and protect_form not in {dependency.call for dependency in route.dependant.dependencies}
    }
    assert unprotected == STREAMING | {ONE_CLICK}


def test_a_limit_says_on_which_day_it_ends() -> None:
    errors = FormErrors.of(LimitedError("Too many.", allowed_at=datetime(2026, 12, 2, 8, 5, tzinfo=UTC)))
    assert errors.message == "Too many. You can try again from 2 Dec 2026, 08:05 UTC."


def test_every_message_after_a_form_exists_and_is_used() -> None:
    """Wherever the name `done` gets a value, as an argument or a variable, and what `done_with` returns."""
    used: set[str] = set()
    for file in PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            is_argument = isinstance(node, ast.keyword) and node.arg == "done"
            is_variable = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "done"
            if (is_argument or is_variable) and not isinstance(node.value, ast.Call):
                used.update(strings_of(node.value))
            elif isinstance(node, ast.FunctionDef) and node.name == "done_with":
                returned = (each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value)
                used.update(text for value in returned for text in strings_of(value))
    assert used == set(DONE)


def test_going_on_with_an_unknown_message_is_an_error() -> None:
    assert go_to("/organise", done="deleted").headers["location"] == "/organise?done=deleted"
    with pytest.raises(KeyError):
        go_to("/organise", done="no-such-message")


def test_lists_of_mistakes_name_fields_as_their_labels_do() -> None:
    named = [
        (template.name, name, label, f'"{name}": "{label}"' in text or field_label(name))
        for template in TEMPLATE_DIRECTORY.rglob("*.html")
        for text in [template.read_text(encoding="utf-8")]
        for name, label in FIELDS.findall(text)
    ]
    assert len(named) > 40
    for *place, label, said in named:
        assert said is True or label.lower() in said.lower() or said.lower() in label.lower(), (*place, label, said)
