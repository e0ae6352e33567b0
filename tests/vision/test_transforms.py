"""Transforms match torchvision to 1e-5 under the same seed, and leave the generator in the same state."""

from __future__ import annotations

import pytest
from compare_transforms import OURS, PICTURES, case, close, hold, hold_refusal, picture, v2
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
    fn piped(picture, times):
        val all = pipeline()
        [for _ in 0..times: all(picture)]
    class Pictures(Dataset):
        pictures: torch.Tensor
        transform: t.Transform
        fn __len__(): self.pictures.size(0)
        fn __getitem__(i): self.transform(self.pictures[i])
    fn loaded(pictures, workers):
        val dataset = Pictures(pictures: pictures, transform: pipeline())
        [for batch in DataLoader(dataset, batch_size: 3, num_workers: workers, shuffle: true): batch]
    fn functions(picture): [t.functional.adjust_hue(picture, 0.3), t.functional.crop(picture, -2, 3, 9, 40),
        t.functional.pad(picture, [1, 2], 7), (t.Lambda(\\x: x * 2))(picture)]
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


@pytest.mark.parametrize("given", PICTURES.values(), ids=PICTURES)
@pytest.mark.parametrize(("name", "args", "named"), CASES)
def test_image_matches_torchvision(name, args, named, given):
    hold(name, args, named, given)


@pytest.mark.parametrize("before", [torch.uint8, torch.int16, torch.int32, torch.uint16, torch.float32, torch.float64])
@pytest.mark.parametrize("after", [torch.uint8, torch.int16, torch.int32, torch.uint16, torch.float32, torch.float64])
def test_dtypes(before, after):
    given = picture(torch.float64).mul(200).to(before) if before.is_floating_point is False else picture(before)
    named = {"dtype": after, "scale": True}
    try:
        v2.ToDtype(**named)(given)
    except RuntimeError as error:
        name = str(after).removeprefix("torch.")
        assert OURS.refusal("ToDtype", [], {"dtype": name, "scale": True}, given) == str(error)
        return
    hold("ToDtype", [], named, given)


@pytest.mark.parametrize("interpolation", SMOOTH)
@pytest.mark.parametrize("size", [[4, 4], [7, 3], [11, 20]], ids=str)
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint16, torch.int8])
def test_sizes_of_other_dtypes(dtype, size, interpolation):
    given = picture(torch.float64).mul(9).to(torch.int64).remainder(3).to(dtype)[:, :9, :7]
    hold("Resize", [size], {"interpolation": interpolation}, given)


def test_padding_colors():
    hold("Pad", [2], {"fill": [1.0, 2.0, 3.0]}, picture())
    hold("RandomErasing", [1.0], {"value": [1.0, 2.0, 3.0]}, picture())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normalize(dtype):
    hold("Normalize", [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]], {}, picture(dtype))


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
def test_rejects_what_torchvision_rejects(name, args, named):
    hold_refusal(name, args, named)


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
    wanted = [theirs(picture()) for _ in range(30)]
    torch.manual_seed(2)
    for ours, his in zip(LOADED.piped(picture(), 30), wanted, strict=True):
        close(ours, his)


class Pictures(torch.utils.data.Dataset):
    def __init__(self, pictures):
        self.pictures, self.transform = pictures, theirs_pipeline()

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return self.transform(self.pictures[i])


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_of_transformed_images_match_torchvision(workers):
    pictures = torch.stack([picture() + i for i in range(10)])
    torch.manual_seed(6)
    wanted = list(torch.utils.data.DataLoader(Pictures(pictures), 3, num_workers=workers, shuffle=True))
    torch.manual_seed(6)
    for ours, his in zip(LOADED.loaded(pictures, workers), wanted, strict=True):
        close(ours, his)


def test_functions():
    given = picture()
    f = v2.functional
    wanted = [f.adjust_hue(given, 0.3), f.crop(given, -2, 3, 9, 40), f.pad(given, [1, 2], 7), given * 2]
    for ours, his in zip(LOADED.functions(given), wanted, strict=True):
        close(ours, his)
