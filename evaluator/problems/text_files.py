"""Text files, line by line."""

from vocboard.evaluator.problems.registry import error, warning

NOT_UTF8 = error(
    "not_utf8",
    "Not plain text",
    "Byte 0x{byte:02x} is not valid UTF-8 text.",
    "Write the file as plain ASCII or UTF-8 text.",
    example="a MATLAB or NumPy file named comp4_det_test_car.txt",
)
UTF16 = error(
    "utf16",
    "A text file in UTF-16",
    "The file is encoded in UTF-16.",
    "Write it as plain ASCII or UTF-8. In PowerShell: `Out-File -Encoding ascii`.",
    example="a file written by `>` in Windows PowerShell",
)
BYTE_ORDER_MARK = warning(
    "byte_order_mark",
    "A byte order mark",
    "The file begins with a byte order mark, which was ignored.",
    example="a file saved by Windows Notepad as UTF-8 with BOM",
)
LINE_ENDS_OF_WINDOWS = warning(
    "line_ends_of_windows",
    "Windows line endings",
    "{count} (this one first) {has} Windows line endings (CR LF). They are accepted.",
    example="a file written on Windows",
)
LINE_ENDS_OF_OLD_MACS = warning(
    "line_ends_of_old_macs",
    "Line endings of old Macs",
    "{count} (this one first) {has} line endings of old Macs (CR alone). They are accepted.",
    example="lines that end in CR alone",
)
TABS = warning(
    "tabs",
    "Tabs between the fields",
    "{count} (this one first) {has} tabs between the fields. They are read like spaces.",
    example="2008_000001<TAB>0.5",
)
EMPTY_FILE = warning(
    "empty_file",
    "Empty file",
    "The file contains no results. It still counts as entered.",
    "Remove it if you do not want to enter it.",
    example="comp4_det_test_car.txt of 0 bytes",
)
LINE_TOO_LONG = error(
    "line_too_long",
    "Line too long",
    "The line has {length:,} characters, more than {limit:,}.",
    "Write one result per line: {format}.",
    example="all results in one line",
)
TOO_MANY_LINES = error(
    "too_many_lines",
    "Too many lines",
    "The file has {count:,} lines, more than {limit:,}.",
    "Keep the most confident results.",
    example="a detection file with every window of every image",
)
WRONG_NUMBER_OF_FIELDS = error(
    "wrong_number_of_fields",
    "Wrong number of fields",
    "Found {found}, expected {expected}: {format}.{hint}",
    "Separate fields with spaces, and write one result per line.",
    example="2008_000001 0.9 48 240 195 371 0 0 in a classification file",
)
CONFIDENCE_MISSING = error(
    "confidence_missing",
    "Missing confidence",
    "Found {found}, expected {expected}: the confidence seems to be missing.",
    "Write {format}.",
    example="2008_000001 10 20 110 220 in a detection file",
)
WRONG_SEPARATOR = error(
    "wrong_separator",
    "Wrong separator",
    "The fields are separated by {found}.",
    "Separate them with spaces: {format}.",
    example="2008_000001,0.9",
)
NOT_A_NUMBER = error(
    "not_a_number",
    "Not a number",
    "The {field} is {found}, which is not a number.",
    "Write decimal numbers such as 0.75, -12 or 1e-5.",
    example="2008_000001 high",
)
COMMA_DECIMAL = error(
    "comma_decimal",
    "A decimal comma",
    "The {field} is {found}, with a comma.",
    "Write {meant}. Numbers need a decimal point, whatever the system's language.",
    example="2008_000001 0,75",
)
NOT_FINITE = error(
    "not_finite",
    "NaN or infinity",
    "The {field} is {found}, but must be a finite number.",
    "Replace it with a number, or remove the line.",
    example="2008_000001 NaN",
)
NUMBER_OUT_OF_RANGE = error(
    "number_out_of_range",
    "Number out of range",
    "The {field} is {found}, outside ±{limit:g}.",
    "Scale confidences down, as only their order matters; coordinates are in pixels.",
    example="2008_000001 1e300",
)
CONFIDENCE_OUT_OF_RANGE = error(
    "confidence_out_of_range",
    "A confidence outside the challenge's range",
    "The confidence is {found}, but must be from {least:g} to {greatest:g} in this challenge.",
    "Scale confidences to that range without changing their order. In a line, a number that is no confidence may be in "
    "the wrong column.",
    example="151 7.5 89 112 516 466 Car, where confidences are from 0 to 1",
)
WRONG_CLASS = error(
    "wrong_class",
    "Unknown class in a line",
    "The class is {found}, expected one of {classes}{hint}.",
    "Write the class as the challenge spells it.",
    example="151 0.7 89 112 516 466 car, where the class is called Car",
)
