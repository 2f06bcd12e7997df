"""Person layouts, in XML."""

from vocboard.evaluator.problems.registry import error, warning

XML_SYNTAX = error(
    "xml_syntax",
    "XML syntax error",
    "The file is not well-formed XML: {reason}.",
    "Write well-formed XML in UTF-8, with one <results> element around all <layout> elements.",
    example="<results><layout></results>",
)
XML_FORBIDDEN = error(
    "xml_forbidden",
    "XML with a document type or entities",
    "The file has a document type declaration, which is not allowed.",
    "Remove it and use plain elements and text.",
    example='<!DOCTYPE results SYSTEM "layout.dtd">',
)
XML_TOO_DEEP = error(
    "xml_too_deep",
    "XML elements nested too deeply",
    "Elements are nested more than {limit} deep.",
    "Use only <results>, <layout>, <part>, <bndbox> and the four sides of the box.",
    example="<results><layout><part><bndbox><xmin><value>1</value></xmin>...",
)
XML_TOO_LARGE = error(
    "xml_too_large",
    "Too many XML elements",
    "This <{parent}> contains more than {limit:,} elements.",
    "A person has at most one head, two hands and two feet.",
    example="a single <layout> around the parts of all people",
)
XML_TEXT_TOO_LONG = error(
    "xml_text_too_long",
    "Too much text in an XML element",
    "The element {parent} contains more than {limit:,} characters.",
    "Elements may only contain numbers, identifiers and part names.",
    example="<image> with the image itself, in base 64",
)
NOT_A_LAYOUT = error(
    "not_a_layout",
    "Not a layout file",
    "The outermost element is {found}, expected <results>.{hint}",
    "Put one <results> element around all <layout> elements.",
    example="<annotation><object><name>person</name>..., the format of the annotations",
)
UNEXPECTED_ELEMENT = error(
    "unexpected_element",
    "Unexpected XML element",
    "Found {found} in {parent}; expected {expected}.",
    "Remove it, or move it to the right place.",
    example="<layout><score>0.5</score>...",
)
MISSING_ELEMENT = error(
    "missing_element",
    "Missing XML element",
    "This <{parent}> has no <{missing}>.",
    "It must contain: {expected}.",
    example="<layout> without <confidence>",
)
REPEATED_ELEMENT = error(
    "repeated_element",
    "Repeated XML element",
    "This <{parent}> already has a <{found}>.",
    "{hint}",
    example="<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymin>4</ymin></bndbox>",
)
UNKNOWN_PART = error(
    "unknown_part",
    "Unknown part",
    "The part is {found}; expected {expected}.",
    "Use exactly these names.",
    example="<part><class>elbow</class>...",
)
TOO_MANY_PARTS = error(
    "too_many_parts",
    "Too many parts in one layout",
    "This layout has {count:,} parts, more than {limit:,}.",
    "A person has at most one head, two hands and two feet.",
    example="a <layout> with all candidates for every part",
)
REPEATED_LAYOUT = warning(
    "repeated_layout",
    "More than one layout of a person",
    "{count} (the first here) of a person who already has one; {scored}.",
    "Write one layout per person.",
    example="two <layout> elements with the same <image> and <object>",
)
UNLISTED_PERSON = warning(
    "unlisted_person",
    "Layouts of people who are not in the test set",
    "{count} (the first here) of a person who is not in the image set. They are not scored.",
    "Take image and object index from the image set file.",
    example="<object>3</object> where the image set lists objects 1 and 2 of the image",
)
