"""Transforms match torchvision to 1e-5 under the same seed, and leave the generator in the same state."""

from __future__ import annotations

import pytest
from compare_transforms import IMAGES, OURS, assert_matches, assert_rejected, case, close, image, v2
from embedded_simple import run, torch

LOADED = run(
    """
    use torch
    use vision.transforms as t
    use torch.utils.data.{Dataset, DataLoader}
    fn pipeline():
        t.Compose([t.RandomResizedCrop(24), t.RandomHorizontalFlip(), t.ColorJitter(0.4, 0.4, 0.4, 0.1),
            t.RandomApply([t.GaussianBlur(3)], 0.5), t.RandomGrayscale(0.2), t.ToDtype(torch.float32, scale: true),
            t.Normalize([0.5, 0.5, 0.5], [0.25, 0.25, 0.25]), t.RandomErasing()])
    fn piped(image, times):
        val all = pipeline()
        [for _ in 0..times: all(image)]
    class Images(Dataset):
        images: torch.Tensor
        transform: t.Transform
        fn __len__(): self.images.size(0)
        fn __getitem__(i): self.transform(self.images[i])
    fn loaded(images, workers):
        val dataset = Images(images: images, transform: pipeline())
        [for batch in DataLoader(dataset, batch_size: 3, num_workers: workers, shuffle: true): batch]
    fn to_tensor(image): [t.ToTensor()(image), t.functional.to_tensor(image)]
    fn functions(image): [t.functional.adjust_hue(image, 0.3), t.functional.crop(image, -2, 3, 9, 40),
        t.functional.pad(image, [1, 2], 7), (t.Lambda(\\x: x * 2))(image)]
    """
)
SMOOTH = ("nearest", "nearest-exact", "bilinear", "bicubic")
CASES = [
    *(case("Resize", size, interpolation=kind) for size in (20, [50, 31], 60) for kind in SMOOTH),
    case("Resize", [13], antialias=False),
    case("Resize", 20, max_size=25),
    case("Resize", None, max_size=25),
    case("Resize", [37, 29]),
    *(case("CenterCrop", size) for size in (20, [10, 25], [60, 21], 64, [20])),
    *(case("Pad", padding) for padding in (3, [2, 4], [1, 2, 3, 4])),
    *(case("Pad", [3, 1, 4, 2], padding_mode=mode) for mode in ("edge", "reflect", "symmetric")),
    case("Pad", 2, fill=0.5),
    case("RandomCrop", 20),
    case("RandomCrop", [20, 11], padding=4),
    case("RandomCrop", 20, padding=[1, 2, 3, 4], padding_mode="reflect"),
    case("RandomCrop", 64, pad_if_needed=True),
    case("RandomCrop", [20, 20], padding=3, fill=1.0),
    case("RandomResizedCrop", 24),
    case("RandomResizedCrop", [16, 40], scale=(0.5, 1.0), ratio=(0.5, 2.0), interpolation="bicubic"),
    case("RandomResizedCrop", 24, scale=(0.9, 1.0), ratio=(8.0, 9.0)),
    case("RandomResizedCrop", 24, scale=(0.9, 1.0), ratio=(0.05, 0.06), antialias=False),
    case("ToImage"),
    case("RandomHorizontalFlip"),
    case("RandomHorizontalFlip", 1.0),
    case("RandomVerticalFlip", p=0.3),
    *(case("ToDtype", dtype=dtype, scale=scale) for dtype in (torch.float32, torch.float64) for scale in (False, True)),
    case("Grayscale"),
    case("Grayscale", 3),
    case("RandomGrayscale", 0.5),
    case("ColorJitter", 0.4),
    case("ColorJitter", contrast=(0.5, 1.5)),
    case("ColorJitter", saturation=2.0),
    case("ColorJitter", hue=0.2),
    case("ColorJitter", 0.4, 0.4, 0.4, 0.1),
    case("ColorJitter"),
    case("GaussianBlur", 3),
    case("GaussianBlur", [5, 7], sigma=(0.5, 3.0)),
    case("GaussianBlur", 5, sigma=1.5),
    case("RandomErasing"),
    case("RandomErasing", 0.9, value="random"),
    case("RandomErasing", p=1.0, scale=(0.1, 0.2), ratio=(0.5, 2.0), value=0.25),
]


@pytest.mark.parametrize("input_image", IMAGES.values(), ids=IMAGES)
@pytest.mark.parametrize(("name", "args", "named"), CASES)
def test_image_matches_torchvision(name, args, named, input_image):
    assert_matches(name, args, named, input_image)


@pytest.mark.parametrize("before", [torch.uint8, torch.int16, torch.int32, torch.uint16, torch.float32, torch.float64])
@pytest.mark.parametrize("after", [torch.uint8, torch.int16, torch.int32, torch.uint16, torch.float32, torch.float64])
def test_dtypes(before, after):
    input_image = image(torch.float64).mul(200).to(before) if before.is_floating_point is False else image(before)
    named = {"dtype": after, "scale": True}
    try:
        v2.ToDtype(**named)(input_image)
    except RuntimeError as error:
        name = str(after).removeprefix("torch.")
        assert OURS.error_message("ToDtype", [], {"dtype": name, "scale": True}, input_image) == str(error)
        return
    assert_matches("ToDtype", [], named, input_image)


@pytest.mark.parametrize("interpolation", SMOOTH)
@pytest.mark.parametrize("size", [[4, 4], [7, 3], [11, 20]], ids=str)
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint16, torch.int8])
def test_sizes_of_other_dtypes(dtype, size, interpolation):
    input_image = image(torch.float64).mul(9).to(torch.int64).remainder(3).to(dtype)[:, :9, :7]
    assert_matches("Resize", [size], {"interpolation": interpolation}, input_image)


def test_padding_colors():
    assert_matches("Pad", [2], {"fill": [1.0, 2.0, 3.0]}, image())
    assert_matches("RandomErasing", [1.0], {"value": [1.0, 2.0, 3.0]}, image())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normalize(dtype):
    assert_matches("Normalize", [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], {}, image(dtype))


@pytest.mark.parametrize(
    ("name", "args", "named"),
    [
        ("RandomCrop", [64], {}),
        ("RandomCrop", [64], {"padding": 1}),
        ("Normalize", [[0.5], [0.5]], {}),
        ("RandomHorizontalFlip", [1.5], {}),
        ("ColorJitter", [-1.0], {}),
        ("GaussianBlur", [4], {}),
        ("RandomErasing", [], {"value": "noise"}),
        ("RandomErasing", [], {"scale": (0.5, 1.5)}),
        ("Pad", [1], {"padding_mode": "mirror"}),
        ("Pad", [[1, 2, 3]], {}),
        ("Grayscale", [2], {}),
        ("Resize", [20], {"max_size": 20}),
    ],
    ids=str,
)
def test_rejects_the_same_as_torchvision(name, args, named):
    assert_rejected(name, args, named)


def theirs_pipeline():
    blur = v2.RandomApply([v2.GaussianBlur(3)], 0.5)
    return v2.Compose(
        [
            *(v2.RandomResizedCrop(24), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4, 0.1), blur),
            *(v2.RandomGrayscale(0.2), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.25] * 3)),
            v2.RandomErasing(),
        ]
    )


def test_a_pipeline_of_transforms():
    torch.manual_seed(2)
    theirs = theirs_pipeline()
    expected = [theirs(image()) for _ in range(30)]
    torch.manual_seed(2)
    for ours, his in zip(LOADED.piped(image(), 30), expected, strict=True):
        close(ours, his)


class Images(torch.utils.data.Dataset):
    def __init__(self, images):
        self.images, self.transform = images, theirs_pipeline()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.transform(self.images[i])


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_of_transformed_images_match_torchvision(workers):
    images = torch.stack([image() + i for i in range(10)])
    torch.manual_seed(6)
    expected = list(torch.utils.data.DataLoader(Images(images), 3, num_workers=workers, shuffle=True))
    torch.manual_seed(6)
    for ours, his in zip(LOADED.loaded(images, workers), expected, strict=True):
        close(ours, his)


def test_functions():
    input_image = image()
    f = v2.functional
    expected = [
        f.adjust_hue(input_image, 0.3),
        f.crop(input_image, -2, 3, 9, 40),
        f.pad(input_image, [1, 2], 7),
        input_image * 2,
    ]
    for ours, his in zip(LOADED.functions(input_image), expected, strict=True):
        close(ours, his)


@pytest.mark.parametrize("default", [torch.float32, torch.float64])
def test_to_tensor_is_torchvisions_for_every_byte(default):
    numpy = pytest.importorskip("numpy")
    transforms = pytest.importorskip("torchvision.transforms")
    pixels = numpy.arange(256, dtype=numpy.uint8).reshape(16, 16, 1)
    torch.set_default_dtype(default)
    try:
        theirs = transforms.ToTensor()(pixels)
        for ours in LOADED.to_tensor(torch.from_numpy(pixels).permute(2, 0, 1)):
            assert ours.dtype == theirs.dtype
            assert ours.equal(theirs)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("dtype", ["int16", "int32", "float32", "bool"])
def test_to_tensor_leaves_other_dtypes_unchanged(dtype):
    numpy = pytest.importorskip("numpy")
    transforms = pytest.importorskip("torchvision.transforms")
    pixels = (numpy.arange(16).reshape(4, 4, 1) % 2).astype(dtype)
    theirs = transforms.ToTensor()(pixels)
    assert LOADED.to_tensor(torch.from_numpy(pixels).permute(2, 0, 1))[0].equal(theirs)
