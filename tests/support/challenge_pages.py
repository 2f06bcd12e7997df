"""What organisers can say on the page of a challenge, all of it, as the API takes it."""

from typing import Any

PAGE: dict[str, Any] = {
    "summary": "Find the ships in a harbour.",
    "description": "## Ships\n\nSee [the site](https://ships.example).\n\n| a | b |\n|---|--:|\n| 1 | 2 |",
    "website": "https://ships.example/challenge",
    "contact": "ask@ships.example",
    "organised_by": "Ada Almeida, Harbour Lab\nCoast Guard",
    "licence": "https://ships.example/terms",
    "citation": "@misc{ships,\n  title = {Ships}\n}",
    "data_links": [
        {"title": "Images", "url": "https://ships.example/i.tar", "bytes": 3_221_225_472, "sha256": "0a" * 32},
        {"title": "Notes", "url": "https://ships.example/notes", "bytes": None, "sha256": ""},
    ],
}
