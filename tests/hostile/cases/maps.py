"""Label maps."""

import struct
import zlib

from tests.evaluator.uploads import SIZE
from tests.hostile.cases.case import Cases, accepted, rejected
from tests.hostile.cases.packing import MIB, chunk, packed, zeros_deflated

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_IMAGES = ("000001", "000002", "000003")
_DIRECTORY = "results/VOC2012/Segmentation/comp5_test_cls"
_WIDTH, _HEIGHT = SIZE
_VOC_COLOURS = bytes((0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0, 0, 0, 128, 128, 0, 128, 0, 128, 128, 128, 128, 128))

_INDEXED = 3


def header(
    width: int = _WIDTH, height: int = _HEIGHT, bits: int = 8, colour: int = _INDEXED, interlaced: int = 0
) -> bytes:
    """The first chunk."""
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced))


def palette() -> bytes:
    """The VOC colour map: three bits of the index at a time, from the highest bit of each colour down."""
    colours = bytearray()
    for index in range(256):
        for colour in range(3):
            colours.append(sum(((index >> (3 * place + colour)) & 1) << (7 - place) for place in range(3)))
    return bytes(colours)


def png(*chunks: bytes) -> bytes:
    """A PNG of chunks."""
    return _SIGNATURE + b"".join(chunks) + chunk(b"IEND", b"")


def pixels(label: int = 0, width: int = _WIDTH, height: int = _HEIGHT, bytes_a_pixel: int = 1) -> bytes:
    """All pixels of one label, each row with its filter."""
    return chunk(b"IDAT", zlib.compress((b"\0" + bytes([label]) * (width * bytes_a_pixel)) * height, 9))


def label_map(label: int = 0) -> bytes:
    """A valid map."""
    return png(header(), chunk(b"PLTE", palette()), pixels(label))


def complete(changed: bytes | None = None) -> dict[str, bytes]:
    """The maps of all images, that of the second changed."""
    return {
        f"{_DIRECTORY}/{image}.png": changed if changed is not None and image == _IMAGES[1] else label_map(number)
        for number, image in enumerate(_IMAGES)
    }


def cases() -> Cases:
    """All of them."""
    plte = chunk(b"PLTE", palette())
    yield accepted("png-maps.tar.gz", "valid label maps", lambda: packed(complete()))
    accepted_maps = {
        "text-bomb": png(header(), chunk(b"zTXt", b"k\0\0" + zeros_deflated(50 * MIB)), plte, pixels()),
        "profile-bomb": png(header(), chunk(b"iCCP", b"p\0\0" + zeros_deflated(50 * MIB)), plte, pixels()),
        "animated": png(header(), chunk(b"acTL", struct.pack(">II", 1_000_000, 0)), plte, pixels()),
        "transparent": png(header(), plte, chunk(b"tRNS", b"\0\0\0"), pixels()),
        "trailing-data": label_map() + b"PK\3\4 something else",
        "interlaced": png(header(interlaced=1), plte, chunk(b"IDAT", zlib.compress(b"\0" * 70))),
        "many-data-chunks": png(header(), plte, *_bytewise()),
        "data-beyond-pixels": png(header(), plte, chunk(b"IDAT", zeros_deflated(50 * MIB))),
        "unknown-chunks": png(header(), *(chunk(b"ruBB", b"") for _ in range(1_000)), plte, pixels()),
    }
    for name, data in accepted_maps.items():
        about = f"a map with {name.replace('-', ' ')}"
        yield accepted(f"png-{name}.tar.gz", about, lambda data=data: packed(complete(data)))
    colours = {
        "palette-grey": bytes(value for value in range(256) for _ in range(3)),
        "palette-short": _VOC_COLOURS[:6],
    }
    for name, other in colours.items():
        data = png(header(), chunk(b"PLTE", other), pixels())
        yield accepted(
            f"png-{name}.tar.gz", "another palette", lambda data=data: packed(complete(data)), "unusual_colour_map"
        )
    yield accepted(
        "png-grey.tar.gz",
        "grey values in place of a palette's indices",
        lambda: packed(complete(png(header(colour=0), pixels()))),
        "png_greyscale",
    )
    rejected_maps = {
        "rgb": (png(header(colour=2), pixels(bytes_a_pixel=3)), "png_rgb"),
        "rgba": (png(header(colour=6), pixels(bytes_a_pixel=4)), "png_rgb"),
        "rgb-16-bit": (png(header(bits=16, colour=2), pixels(bytes_a_pixel=6)), "png_rgb"),
        "grey-class-21": (png(header(colour=0), pixels(21)), "index_out_of_range"),
        "grey-16-bit": (png(header(bits=16, colour=0), pixels(bytes_a_pixel=2)), "png_depth"),
        "grey-alpha": (png(header(colour=4), pixels(bytes_a_pixel=2)), "png_rgb"),
        "one-bit": (png(header(bits=1, colour=0), pixels()), "png_depth"),
        "four-bits": (png(header(bits=4), plte, pixels()), "png_depth"),
        "unknown-colour-type": (png(header(colour=5), plte, pixels()), "png_unreadable"),
        "huge": (png(header(2**31 - 1, 2**31 - 1), plte, pixels()), "png_wrong_size"),
        "no-pixels": (png(header(0, 0), plte), "png_wrong_size"),
        "transposed": (png(header(_HEIGHT, _WIDTH), plte, pixels(0, _HEIGHT, _WIDTH)), "png_wrong_size"),
        "void": (label_map(255), "void_label"),
        "class-21": (label_map(21), "index_out_of_range"),
        "wrong-checksum": (
            label_map().replace(struct.pack(">I", zlib.crc32(b"PLTE" + palette())), b"\0\0\0\0"),
            "png_unreadable",
        ),
        "wrong-header-checksum": (_flipped(label_map(), 31), "png_unreadable"),
        "cut-in-data": (label_map()[:-20], "png_unreadable"),
        "data-too-short": (png(header(), plte, chunk(b"IDAT", zlib.compress(b"\0" * 20))), "png_unreadable"),
        "data-not-zlib": (png(header(), plte, chunk(b"IDAT", b"not zlib")), "png_unreadable"),
        "no-data": (png(header(), plte), "png_unreadable"),
        "no-palette": (png(header(), pixels()), "png_unreadable"),
        "palette-odd": (png(header(), chunk(b"PLTE", b"\0" * 7), pixels()), "png_unreadable"),
        "two-headers": (png(header(), header(), plte, pixels()), "png_unreadable"),
        "no-header": (png(plte, pixels()), "png_unreadable"),
        "chunk-of-4-gib": (label_map()[:33] + b"\xff\xff\xff\xffPLTE", "png_unreadable"),
        "wrong-filter": (
            png(header(), plte, chunk(b"IDAT", zlib.compress((b"\x09" + bytes(_WIDTH)) * _HEIGHT))),
            "png_unreadable",
        ),
        "signature-only": (_SIGNATURE, "png_unreadable"),
        "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "not_a_png"),
        "empty": (b"", "not_a_png"),
        "svg-bomb": (b'<svg xmlns="http://www.w3.org/2000/svg" width="99999"/>', "not_a_png"),
        "postscript": (b"%!PS-Adobe (/etc/passwd) (r) file", "not_a_png"),
    }
    for name, (data, code) in rejected_maps.items():
        about = f"a map that is wrong: {name.replace('-', ' ')}"
        yield rejected(f"png-{name}.tar.gz", about, lambda data=data: packed(complete(data)), code)
    colours_as_grey = {
        f"{_DIRECTORY}/{image}.png": png(header(colour=0), pixels(grey))
        for image, grey in zip(_IMAGES, (38, 75, 113), strict=True)
    }
    yield rejected(
        "png-converted-to-greyscale.tar.gz",
        "maps in colour that were converted to greyscale: red, green and yellow of the VOC colour map",
        lambda: packed(colours_as_grey),
        "png_converted_to_greyscale",
    )
    missing = dict(list(complete().items())[:2])
    yield rejected("png-missing.tar.gz", "an image without its map", lambda: packed(missing), "missing_maps")
    other = complete() | {f"{_DIRECTORY}/000004.png": label_map()}
    yield rejected(
        "png-of-another-task.tar.gz",
        "a map of an image that detection alone has",
        lambda: packed(other),
        "image_of_another_task",
    )
    unknown = complete() | {f"{_DIRECTORY}/2012_000009.png": label_map()}
    yield rejected("png-of-unknown-image.tar.gz", "a map of an unknown image", lambda: packed(unknown), "unknown_image")


def _bytewise() -> list[bytes]:
    data = zlib.compress((b"\0" + bytes(_WIDTH)) * _HEIGHT, 9)
    return [chunk(b"IDAT", data[place : place + 1]) for place in range(len(data))]


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
