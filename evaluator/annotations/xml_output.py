"""Writes records as XML annotations in the development kits' format."""

from xml.sax.saxutils import escape

from vocboard.evaluator.annotations.records import ImageRecord, ObjectRecord, PartRecord

_SIDES = ("xmin", "ymin", "xmax", "ymax")


def xml_of(image: str, record: ImageRecord, folder: str) -> str:
    """Return the annotation of an image, without what the record lacks."""
    lines = ["<annotation>", f"\t<folder>{escape(folder)}</folder>", f"\t<filename>{escape(image)}.jpg</filename>"]
    if record.size is not None:
        width, height = record.size
        lines += ["\t<size>", f"\t\t<width>{width}</width>", f"\t\t<height>{height}</height>", "\t\t<depth>3</depth>"]
        lines.append("\t</size>")
    for each in record.objects:
        lines += _object(each)
    return "\n".join([*lines, "</annotation>", ""])


def _object(record: ObjectRecord) -> list[str]:
    lines = ["\t<object>", f"\t\t<name>{escape(record.name)}</name>"]
    if record.view:
        lines.append(f"\t\t<pose>{escape(record.view)}</pose>")
    lines += [f"\t\t<{name}>{int(flag)}</{name}>" for name, flag in record.flags.items()]
    lines += _box(record, "\t\t")
    for part in record.parts:
        lines += ["\t\t<part>", f"\t\t\t<name>{escape(part.name)}</name>", *_box(part, "\t\t\t"), "\t\t</part>"]
    if record.actions:
        flags = [f"\t\t\t<{name}>{int(flag)}</{name}>" for name, flag in record.actions.items()]
        lines += ["\t\t<actions>", *flags, "\t\t</actions>"]
    return [*lines, "\t</object>"]


def _box(record: ObjectRecord | PartRecord, indent: str) -> list[str]:
    if record.point:
        x, y = record.box[:2]
        return [f"{indent}<point>", f"{indent}\t<x>{x}</x>", f"{indent}\t<y>{y}</y>", f"{indent}</point>"]
    sides = [f"{indent}\t<{side}>{value}</{side}>" for side, value in zip(_SIDES, record.box, strict=True)]
    return [f"{indent}<bndbox>", *sides, f"{indent}</bndbox>"]
