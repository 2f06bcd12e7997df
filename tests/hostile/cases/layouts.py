"""Person layouts in XML."""

from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.packing import MIB, packed

_FILE = "results/VOC2012/Layout/comp7_layout_test.xml"
_FILE_2007 = "results/VOC2007/Layout/comp7_layout_test_person.xml"
_BOX = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax></bndbox>"
_PART = f"<part><class>head</class>{_BOX}</part>"
_LAYOUT = f"<layout>\n<image>000001</image>\n<object>1</object>\n<confidence>0.5</confidence>\n{_PART}\n</layout>\n"
_GOOD = f"<results>\n{_LAYOUT}</results>\n"


def _xml(text: str | bytes) -> bytes:
    return packed({_FILE: text.encode() if isinstance(text, str) else text})


def _changed(old: str, new: str) -> bytes:
    assert old in _GOOD
    return _xml(_GOOD.replace(old, new))


def cases() -> Cases:
    """All of them."""
    yield from _valid()
    yield from _entities()
    yield from _syntax()
    yield from _content()


def _valid() -> Cases:
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
    valid = {
        "plain": _GOOD,
        "declaration": declaration + _GOOD,
        "comments": f"<!-- <!DOCTYPE x> -->{_GOOD}<?php system('id') ?><!-- -->",
        "cdata": _GOOD.replace("000001", "<![CDATA[000001]]>"),
        "character-references": _GOOD.replace("000001", "&#48;&#x30;0001"),
        "attributes": _GOOD.replace("<layout>", '<layout id="1" onload="alert(1)">'),
        "byte-order-mark": "\ufeff" + _GOOD,
        "windows-lines": _GOOD.replace("\n", "\r\n"),
    }
    for name, text in valid.items():
        yield accepted(f"xml-{name}.tar.gz", f"a valid file: {name.replace('-', ' ')}", lambda text=text: _xml(text))
    yield accepted("xml-no-layouts.tar.gz", "no layout in it", lambda: _xml("<results/>"), "empty_file")
    yield accepted(
        "xml-layout-twice.tar.gz",
        "two layouts of a person",
        lambda: _xml(_GOOD.replace("</results>", f"{_LAYOUT}</results>")),
        "repeated_layout",
    )
    yield accepted(
        "xml-unlisted-person.tar.gz",
        "a person who is not listed",
        lambda: _changed("<object>1", "<object>9"),
        "unlisted_person",
    )
    yield accepted(
        "xml-box-outside.tar.gz",
        "a part outside of the image",
        lambda: _changed(_BOX, _BOX.replace(">1<", ">50<").replace(">4<", ">60<")),
        "box_outside_image",
    )
    yield accepted(
        "xml-box-upside-down.tar.gz", "a part upside down", lambda: _changed("<xmax>4", "<xmax>0"), "box_upside_down"
    )
    by_box = _GOOD.replace("<object>1</object>", _BOX)
    yield accepted(
        "xml-2007.tar.gz",
        "a person named by its box, in VOC2007",
        lambda: packed({_FILE_2007: by_box.encode()}),
        edition="VOC2007",
    )
    yield rejected(
        "xml-2007-by-index.tar.gz",
        "a person named by an index, in VOC2007",
        lambda: packed({_FILE_2007: _GOOD.encode()}),
        "missing_element",
        "unexpected_element",
        edition="VOC2007",
    )


def _entities() -> Cases:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    forbidden = {
        "billion-laughs": f'<!DOCTYPE r [<!ENTITY l0 "ha">{laughs}]><results>&l9;</results>',
        "quadratic-blowup": f'<!DOCTYPE r [<!ENTITY a "{"a" * 50_000}">]><results>{"&a;" * 5_000}</results>',
        "external-entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><results>&x;</results>',
        "network-entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]><results>&x;</results>',
        "parameter-entity": '<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:1/x.dtd"> %x;]><results/>',
        "external-dtd": '<!DOCTYPE results SYSTEM "http://127.0.0.1:1/results.dtd"><results/>',
        "public-dtd": '<!DOCTYPE results PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://127.0.0.1:1/x.dtd"><results/>',
        "empty-dtd": f"<!DOCTYPE results>{_GOOD}",
        "attribute-defaults": '<!DOCTYPE r [<!ATTLIST layout x CDATA "y">]><results/>',
    }
    for name, text in forbidden.items():
        yield rejected(f"xml-{name}.tar.gz", name.replace("-", " "), lambda text=text: _xml(text), "xml_forbidden")
    yield rejected(
        "xml-utf-16-dtd.tar.gz",
        "a document type in UTF-16",
        lambda: _xml(forbidden["external-entity"].encode("utf-16")),
        "xml_forbidden",
    )


def _syntax() -> Cases:
    broken = {
        "undefined-entity": _GOOD.replace("000001", "&nbsp;"),
        "unclosed": "<results><layout></results>",
        "cut": _GOOD[:60],
        "empty": "",
        "text": "000001 1 0.5\n",
        "two-roots": _GOOD + _GOOD,
        "nul": _GOOD.replace("000001", "0000\x0001"),
        "control-character": _GOOD.replace("000001", "00000\x011"),
        "bad-reference": _GOOD.replace("000001", "&#0;"),
        "json": '{"results": []}',
        "repeated-attribute": '<results a="1" a="2"/>',
    }
    for name, text in broken.items():
        yield rejected(
            f"xml-{name}.tar.gz",
            f"not well-formed: {name.replace('-', ' ')}",
            lambda text=text: _xml(text),
            "xml_syntax",
        )
    yield rejected(
        "xml-latin-1.tar.gz",
        "Latin-1 that says it is",
        lambda: _xml('<?xml version="1.0" encoding="latin-1"?><results>\u00e9</results>'.encode("latin-1")),
        "xml_syntax",
    )
    yield rejected(
        "xml-utf-7.tar.gz",
        "an encoding that hides tags",
        lambda: _xml('<?xml version="1.0" encoding="UTF-7"?>+ADw-results/+AD4-'),
        "xml_syntax",
    )
    deep = f"<results><layout>{'<part>' * 10_000}"
    yield rejected("xml-deep.tar.gz", "elements nested 10,000 deep", lambda: _xml(deep), "xml_too_deep")
    yield rejected(
        "xml-wide.tar.gz", "10,000 parts in a layout", lambda: _changed(_PART, "<part/>" * 10_000), "xml_too_large"
    )
    yield rejected(
        "xml-too-many-parts.tar.gz", "101 parts in a layout", lambda: _changed(_PART, _PART * 101), "too_many_parts"
    )
    yield rejected(
        "xml-long-text.tar.gz",
        "an identifier of a mebibyte",
        lambda: _changed("000001", "1" * MIB),
        "xml_text_too_long",
    )
    attributes = " ".join(f'a{number}="{"x" * 100}"' for number in range(20_000))
    yield accepted(
        "xml-huge-attributes.tar.gz",
        "20,000 attributes, two megabytes of them",
        lambda: _changed("<layout>", f"<layout {attributes}>"),
    )
    name = "n" * MIB
    yield rejected(
        "xml-huge-name.tar.gz",
        "an element with a name of a mebibyte",
        lambda: _xml(f"<results><{name}/></results>"),
        "unexpected_element",
    )
    yield accepted(
        "xml-white-space.tar.xz",
        "four mebibytes of blank lines between layouts",
        lambda: _xml(_GOOD.replace("<layout>", "\n" * (4 * MIB) + "<layout>")),
    )


def _content() -> Cases:
    roots = {
        "annotation": "<annotation><object><name>person</name></object></annotation>",
        "html": "<html><body>404</body></html>",
        "layout-alone": _LAYOUT,
        "namespace": _GOOD.replace("results>", "v:results>").replace("<v:results>", '<v:results xmlns:v="http://voc">'),
        "capital": _GOOD.replace("results", "Results"),
    }
    for name, text in roots.items():
        yield rejected(
            f"xml-root-{name}.tar.gz",
            f"another outermost element: {name}",
            lambda text=text: _xml(text),
            "not_a_layout",
        )
    changed = {
        "object-zero": ("<object>1", "<object>0", ("object_index_zero",)),
        "object-words": ("<object>1", "<object>one", ("bad_object_index",)),
        "no-confidence": ("<confidence>0.5</confidence>", "", ("missing_element",)),
        "two-images": ("<image>000001</image>", "<image>000001</image><image>000002</image>", ("repeated_element",)),
        "slip-of-the-document": ("<ymax>4</ymax>", "<ymin>4</ymin>", ("repeated_element",)),
        "score": ("<confidence>0.5", "<score>0.5</score><confidence>0.5", ("unexpected_element",)),
        "unknown-part": ("head", "elbow", ("unknown_part",)),
        "part-without-box": (_BOX, "", ("missing_element",)),
        "unknown-image": ("000001", "2012_000001", ("unknown_image",)),
        "image-of-detection": ("000001", "000004", ("image_of_another_task",)),
        "image-path": ("000001", "JPEGImages/000001.jpg", ("image_with_file_name",)),
        "confidence-nan": ("0.5", "NaN", ("not_finite",)),
        "confidence-comma": ("0.5", "0,5", ("comma_decimal",)),
        "coordinate-huge": ("<xmin>1", "<xmin>1e99", ("number_out_of_range",)),
        "coordinate-words": ("<xmin>1", "<xmin>left", ("not_a_number",)),
        "empty-layout": (_LAYOUT, "<layout/>", ("missing_element",)),
        "prefixed": ("<image>", "<x:image xmlns:x='y'/><image>", ("unexpected_element",)),
    }
    for name, (old, new, codes) in changed.items():
        yield rejected(
            f"xml-{name}.tar.gz", f"a layout with {new[:60]!r}", lambda old=old, new=new: _changed(old, new), *codes
        )
