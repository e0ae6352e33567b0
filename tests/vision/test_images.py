"""Decoded images match torchvision bit for bit; corrupt files are Io errors, never a crash."""

from __future__ import annotations

import io
import itertools
import os
import random
import struct
import zlib
from pathlib import Path

import numpy
import pytest
from embedded_simple import run, torch

image = pytest.importorskip("PIL.Image", reason="this Python has no Pillow", exc_type=ModuleNotFoundError)
torchvision_io = pytest.importorskip("torchvision.io", reason="this Python has no torchvision")
# torchvision's decoders warn that they are deprecated.
pytestmark = pytest.mark.filterwarnings("ignore")

OURS = run(
    """
    use torch
    use vision.io
    fn decode(data, mode, oriented): io.decode_image(data, mode, oriented)
    fn jpeg(data): io.decode_jpeg(data)
    fn png(data): io.decode_png(data)
    fn by_mode(data): io.decode_image(data, io.ImageReadMode.GRAY)
    fn read(path): io.read_image(path)
    fn of_path(path): io.decode_image(path)
    fn outcome(data):
        val result = torch.attempt(\\: io.decode_image(data, "RGB", true))
        if result.is_ok(): "" else: reported(result.unwrap_err())
    fn reported(error):
        match error:
            case torch.TorchError.Io(message): "Io: " + message
            case torch.TorchError.InvalidArgument(message): "InvalidArgument: " + message
            case other: "another: " + other.message()
    fn try_read(path):
        val result = io.try_read_image(path)
        if result.is_ok(): "" else: reported(result.unwrap_err())
    fn encoded_png(make_image, level): io.encode_png(make_image, level)
    fn encoded_jpeg(make_image, quality): io.encode_jpeg(make_image, quality)
    fn rejected(make_image, quality, level):
        val jpeg = torch.attempt(\\: io.encode_jpeg(make_image, quality))
        val png = torch.attempt(\\: io.encode_png(make_image, level))
        (if jpeg.is_ok(): "" else: reported(jpeg.unwrap_err()), if png.is_ok(): "" else: reported(png.unwrap_err()))
    fn written(make_image, folder):
        io.write_png(make_image, folder + "/a.png")
        io.write_jpeg(make_image, folder + "/a.jpg", 90)
        (io.read_file(folder + "/a.png"), io.read_file(folder + "/a.jpg"))
    """
)
MUTATIONS = 20_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 2_000


def make_image(mode: str, width: int, height: int):
    """A smooth image with some noise."""
    generator = numpy.random.default_rng(width * 1000 + height)
    channels = len(image.new(mode, (1, 1)).getbands())
    y, x = numpy.mgrid[0:height, 0:width]
    layers = [(x * (3 + c) + y * (5 - c)) % 256 for c in range(channels)]
    pixels = numpy.stack(layers, -1) + generator.integers(-20, 20, (height, width, channels))
    pixels = pixels.clip(0, 255).astype(numpy.uint8)
    return image.fromarray(pixels[..., 0] if channels == 1 else pixels, mode)


def bytes_of(made, **options) -> bytes:
    file = io.BytesIO()
    made.save(file, **options)
    return file.getvalue()


def tensor_of(data: bytes):
    return torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def same(data: bytes, mode: str = "UNCHANGED", oriented: bool = False) -> None:
    expected = torchvision_io.decode_image(tensor_of(data), mode, apply_exif_orientation=oriented)
    found = OURS.decode(tensor_of(data), mode, oriented)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert torch.equal(found.to(torch.int32), expected.to(torch.int32))


SIZES = [(1, 1), (7, 5), (8, 8), (16, 16), (17, 33), (64, 48), (131, 3)]
JPEGS = {
    "usual": {},
    "progressive": {"progressive": True},
    "restart markers": {"restart_marker_blocks": 2},
    "whole chroma": {"subsampling": 0},
    "half chroma": {"subsampling": 1},
    "coarse": {"quality": 5},
    "fine, tables of its own": {"quality": 98, "optimize": True},
}


@pytest.mark.parametrize("options", JPEGS.values(), ids=JPEGS)
@pytest.mark.parametrize("colors", ["L", "RGB", "CMYK"])
def test_jpeg(colors, options):
    for (width, height), mode in itertools.product(SIZES, ["UNCHANGED", "GRAY", "RGB"]):
        same(bytes_of(make_image(colors, width, height), format="JPEG", **options), mode)


@pytest.mark.parametrize("orientation", range(10))
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_orientation(kind, orientation):
    exif = image.Exif()
    exif[0x0112] = orientation
    data = bytes_of(make_image("RGB", 13, 7), format=kind, exif=exif)
    for oriented in (False, True):
        same(data, "RGB", oriented)


@pytest.mark.parametrize("order", ["<", ">"])
def test_orientation_in_both_byte_orders_after_other_entries(order):
    mark = b"II" if order == "<" else b"MM"
    entries = struct.pack(order + "HHIHH", 0x0103, 3, 1, 6, 0) + struct.pack(order + "HHIHH", 0x0112, 3, 1, 6, 0)
    exif = mark + struct.pack(order + "HI", 42, 8) + struct.pack(order + "H", 2) + entries + b"\0\0\0\0"
    same(bytes_of(make_image("RGB", 13, 7), format="JPEG", exif=b"Exif\0\0" + exif), "RGB", True)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def parts_of(length: int, step: int) -> int:
    return max(0, -(-length // step))


def png(width: int, height: int, depth: int, color_type: int, *, interlaced=False, extra: bytes = b"") -> bytes:
    """A PNG of random samples, in forms that Pillow does not write."""
    generator = random.Random(width * height + depth + color_type)
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color_type]

    def rows(w, h):
        size = (w * channels * depth + 7) // 8
        return b"".join(b"\0" + generator.randbytes(size) for _ in range(h)) if size else b""

    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    if interlaced:
        samples = b"".join(rows(parts_of(width - x, dx), parts_of(height - y, dy)) for x, y, dx, dy in passes)
    else:
        samples = rows(width, height)
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    palette = chunk(b"PLTE", generator.randbytes(3 << depth)) if color_type == 3 else b""
    parts = chunk(b"IHDR", header) + palette + extra + chunk(b"IDAT", zlib.compress(samples)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


DEPTHS = [(0, d) for d in (1, 2, 4, 8, 16)] + [(c, d) for c in (2, 4, 6) for d in (8, 16)]
MODES = ["UNCHANGED", "GRAY", "GRAY_ALPHA", "RGB", "RGB_ALPHA"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("color_type", "depth"), DEPTHS)
def test_png(color_type, depth, interlaced, mode):
    for width, height in [(1, 1), (7, 5), (16, 9)]:
        same(png(width, height, depth, color_type, interlaced=interlaced), mode)


@pytest.mark.parametrize("transparent", [False, True])
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_png_with_a_palette(depth, interlaced, transparent):
    alpha = bytes(range(0, 256, 1 << (8 - depth)))[: 1 << depth]
    data = png(13, 6, depth, 3, interlaced=interlaced, extra=chunk(b"tRNS", alpha) if transparent else b"")
    # In the other modes torchvision leaves rows without alpha, or with several samples per byte, partly uninitialized.
    for mode in ["GRAY", "RGB"] + (["GRAY_ALPHA", "RGB_ALPHA"] if transparent else []):
        same(data, mode)
    opened = image.open(io.BytesIO(data))
    assert OURS.decode(tensor_of(data), "UNCHANGED", False)[0].tolist() == numpy.asarray(opened).tolist()
    rgba = torch.from_numpy(numpy.array(opened.convert("RGBA"))).permute(2, 0, 1)
    assert torch.equal(OURS.decode(tensor_of(data), "RGB_ALPHA", False), rgba)


@pytest.mark.parametrize("color_type", [0, 2])
def test_transparent_color_is_ignored_as_in_torchvision(color_type):
    data = png(9, 9, 8, color_type, extra=chunk(b"tRNS", b"\0\x05" * (1 if color_type == 0 else 3)))
    for mode in MODES:
        same(data, mode)


PHOTOGRAPHS = ["chelsea.png", "astronaut.png", "coffee.png", "rocket.jpg", "camera.png", "logo.png", "horse.png"]


@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_photographs(name):
    skimage = pytest.importorskip("skimage", reason="this Python has no scikit-image", exc_type=ModuleNotFoundError)
    path = Path(skimage.__file__).parent / "data" / name
    assert path.exists()
    for mode in ("UNCHANGED", "GRAY", "RGB"):
        same(path.read_bytes(), mode)
    assert torch.equal(OURS.read(str(path)), torchvision_io.decode_image(str(path), "RGB", apply_exif_orientation=True))


def test_channels_are_interleaved_as_in_torchvision():
    data = tensor_of(bytes_of(make_image("RGB", 13, 7), format="JPEG"))
    assert OURS.jpeg(data).stride() == torchvision_io.decode_jpeg(data).stride()


def test_modes_have_names_and_values():
    data = tensor_of(bytes_of(make_image("RGB", 13, 7), format="PNG"))
    gray = torchvision_io.decode_image(data, "GRAY")
    assert torch.equal(OURS.by_mode(data), gray)
    assert torch.equal(OURS.decode(data, "gray", False), gray)
    with pytest.raises(Exception, match="no ImageReadMode CMYK"):
        OURS.decode(data, "CMYK", False)


def test_other_formats_are_decoded_by_torchvision(tmp_path):
    for kind in ("GIF", "WEBP"):
        data = tensor_of(
            bytes_of(make_image("RGB", 13, 7), format=kind, **({"lossless": True} if kind == "WEBP" else {}))
        )
        assert torch.equal(OURS.decode(data, "RGB", False), torchvision_io.decode_image(data, "RGB"))


def test_ctrl_c_in_the_decoder_is_not_an_image_error(monkeypatch):
    def stopped(*_given, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(torchvision_io, "decode_image", stopped)
    with pytest.raises(KeyboardInterrupt):
        OURS.decode(tensor_of(b"GIF89a"), "RGB", False)


def jpeg_bytes(**options) -> bytes:
    return bytes_of(make_image("RGB", 40, 30), format="JPEG", **options)


def png_bytes() -> bytes:
    return bytes_of(make_image("RGB", 40, 30), format="PNG")


def widened(data: bytes, kind: str) -> bytes:
    """The same file with a header of 60000 x 60000 pixels."""
    if kind == "PNG":
        header = struct.pack(">II", 60000, 60000) + data[24:29]
        return data[:8] + chunk(b"IHDR", header) + data[33:]
    at = data.index(b"\xff\xc0") + 5
    return data[:at] + struct.pack(">HH", 60000, 60000) + data[at + 4 :]


BROKEN = {
    "nothing": (b"", "decode_image: the data is empty"),
    "text": (b"this is a text", "decode_image: the data is not JPEG or PNG"),
    "half a JPEG": (jpeg_bytes()[:500], "decode_jpeg: the file is truncated"),
    "half a progressive JPEG": (jpeg_bytes(progressive=True)[:700], "decode_jpeg: the file is truncated"),
    "the start of a JPEG": (jpeg_bytes()[:4], "decode_jpeg: the file is truncated"),
    "a JPEG without a make_image": (b"\xff\xd8\xff\xd9", "decode_jpeg: JPEG datastream contains no image"),
    "half a PNG": (png_bytes()[:500], "decode_png: the file is truncated"),
    "the start of a PNG": (png_bytes()[:8], "decode_png: the file is truncated"),
    "a flipped bit of a PNG": (
        png_bytes()[:200] + bytes([png_bytes()[200] ^ 1]) + png_bytes()[201:],
        "decode_png: ",
    ),
    "a huge JPEG": (widened(jpeg_bytes(), "JPEG"), "60000 x 60000 pixels do not fit into a file of"),
    "a huge PNG": (widened(png_bytes(), "PNG"), "60000 x 60000 pixels do not fit into a file of"),
    "an endless PNG": (
        png_bytes()[:8] + chunk(b"IHDR", struct.pack(">II", 2**31 - 1, 2**31 - 1) + bytes([8, 2, 0, 0, 0])),
        "decode_png: ",
    ),
}


@pytest.mark.parametrize(("data", "message"), BROKEN.values(), ids=BROKEN)
def test_corrupt_files_are_reported(data, message, tmp_path):
    reported = OURS.outcome(tensor_of(data))
    assert reported.startswith("Io: ")
    assert message in reported
    path = tmp_path / "make_image"
    path.write_bytes(data)
    assert OURS.try_read(str(path)) == f"Io: '{path}': {reported.removeprefix('Io: ')}"


def test_missing_files_are_reported(tmp_path):
    assert OURS.try_read("/nowhere/cat.jpg") == "Io: '/nowhere/cat.jpg' cannot be read: no such file"
    assert OURS.try_read(str(tmp_path)) == f"Io: '{tmp_path}' cannot be read: is a directory"


def test_decoders_reject_the_other_format():
    with pytest.raises(Exception, match="decode_image: the data is not PNG"):
        OURS.png(tensor_of(jpeg_bytes()))
    with pytest.raises(Exception, match="decode_image: the data is not JPEG"):
        OURS.jpeg(tensor_of(png_bytes()))


@pytest.mark.parametrize("mode", ["GRAY_ALPHA", "RGB_ALPHA"])
def test_jpeg_has_no_alpha(mode):
    with pytest.raises(Exception, match="The provided mode is not supported for JPEG files"):
        OURS.decode(tensor_of(jpeg_bytes()), mode, False)


@pytest.mark.parametrize("data", [torch.zeros(3, 3, dtype=torch.uint8), torch.zeros(9)], ids=["2-D", "float"])
def test_data_must_be_a_uint8_tensor(data):
    assert OURS.outcome(data).startswith("InvalidArgument: decode_image: data must be a 1-D uint8 tensor on the CPU")


def mutated(data: bytes, generator: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(generator.randint(1, 8)):
        at = generator.randrange(2, len(changed))
        match generator.randrange(4):
            case 0:
                changed[at] ^= 1 << generator.randrange(8)
            case 1:
                changed[at] = generator.choice([0, 0xFF, 0x7F, 0x80])
            case 2:
                del changed[at : at + generator.randint(1, 30)]
            case 3:
                changed[at:at] = generator.randbytes(generator.randint(1, 30))
    return bytes(changed)


def with_right_sums(data: bytes) -> bytes:
    """Fixes the checksums of a PNG's chunks, so that mutations reach the code after the check."""
    out, at = data[:8], 8
    while at + 12 <= len(data):
        size = struct.unpack(">I", data[at : at + 4])[0]
        if at + 12 + size > len(data):
            break
        out += chunk(data[at + 4 : at + 8], data[at + 8 : at + 8 + size])
        at += 12 + size
    return out + data[at:]


def test_mutated_files_never_crash():
    generator = random.Random(1)
    exif = image.Exif()
    exif[0x0112] = 6
    jpegs = [jpeg_bytes(exif=exif), jpeg_bytes(progressive=True), bytes_of(make_image("CMYK", 20, 20), format="JPEG")]
    pngs = [png(20, 11, depth, color_type, interlaced=color_type == 0) for color_type, depth in DEPTHS]
    pngs += [png(9, 9, 4, 3), png_bytes()]
    seen = {"": 0, "Io": 0, "another": 0, "InvalidArgument": 0}
    for i in range(MUTATIONS):
        data = mutated(generator.choice(jpegs if i % 2 else pngs), generator)
        reported = OURS.outcome(tensor_of(with_right_sums(data) if i % 4 == 0 else data))
        seen[reported.split(":")[0]] += 1
    assert seen["another"] == seen["InvalidArgument"] == 0
    assert min(seen[""], seen["Io"]) > MUTATIONS // 20  # both occur


@pytest.mark.parametrize("colors", ["L", "RGB"])
def test_encoded_images_match_torchvision(colors, tmp_path):
    made = torch.from_numpy(numpy.array(make_image(colors, 37, 21)))
    made = made.unsqueeze(0) if colors == "L" else made.permute(2, 0, 1)
    assert torch.equal(torchvision_io.decode_png(OURS.encoded_png(made, 6)), made)
    for quality in (5, 75, 100):
        ours, theirs = OURS.encoded_jpeg(made, quality), torchvision_io.encode_jpeg(made.contiguous(), quality)
        assert torch.equal(torchvision_io.decode_jpeg(ours), torchvision_io.decode_jpeg(theirs))
    files = OURS.written(made, str(tmp_path))
    assert torch.equal(torchvision_io.decode_png(files[0]), made)
    assert (tmp_path / "a.jpg").read_bytes() == bytes(files[1].tolist())


def test_unsupported_images_are_reported():
    fine = torch.zeros(3, 4, 4, dtype=torch.uint8)
    wrong = "InvalidArgument: Image quality should be a positive number between 1 and 100"
    assert tuple(OURS.rejected(fine, 0, 10)) == (wrong, "InvalidArgument: Compression level should be between 0 and 9")
    for wrong in (fine[:2], fine.float(), fine[0]):
        reported = OURS.rejected(wrong, 75, 6)
        assert all(line.startswith("InvalidArgument: encode_image: image must") for line in reported)
