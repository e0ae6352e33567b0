"""Photographs in folders, cropped, flipped, color-jittered and normalized: `images.py FOLDER DECODER`.

DECODER selects torchvision's decoder: "tensors" is its decode_image, "pillow" is Pillow, ImageFolder's default.
"""

import sys

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.io import decode_image
from torchvision.transforms import v2
from worker import serve

FOLDER, DECODER = sys.argv[1:]
AUGMENT = [
    *(v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4, 0.1)),
    *(v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])),
]
if DECODER == "pillow":
    AUGMENT.insert(3, v2.ToImage())
    data = ImageFolder(FOLDER, v2.Compose(AUGMENT))
else:
    data = ImageFolder(FOLDER, v2.Compose(AUGMENT), loader=lambda path: decode_image(path, "RGB"))
serve(DataLoader(data, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True))
