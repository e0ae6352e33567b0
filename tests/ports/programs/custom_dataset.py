"""A dataset of one's own: samples are dicts, transforms are classes, and loaders batch the dicts."""

import random

import torch
from torch.utils.data import DataLoader, Dataset, random_split
import torch.nn.functional as F


class FaceLandmarksDataset(Dataset):
    """Face Landmarks dataset."""

    def __init__(self, count, transform=None):
        """
        Arguments:
            count (int): number of faces
            transform (callable, optional): Optional transform to be applied on a sample.
        """
        g = torch.Generator().manual_seed(3)
        self.images = [
            torch.randint(0, 256, (12 + i % 3, 10 + i % 2, 3), generator=g, dtype=torch.uint8) for i in range(count)
        ]
        self.landmarks_frame = [[f"face{i}.jpg"] + [float((i * 7 + k) % 9) for k in range(8)] for i in range(count)]
        self.transform = transform

    def __len__(self):
        return len(self.landmarks_frame)

    def __getitem__(self, idx):
        if torch.is_tensor(idx):
            idx = idx.tolist()
        image = self.images[idx]
        landmarks = self.landmarks_frame[idx][1:]
        landmarks = torch.tensor([landmarks], dtype=torch.float32).reshape(-1, 2)
        sample = {"image": image, "landmarks": landmarks}
        if self.transform:
            sample = self.transform(sample)
        return sample


class Rescale(object):
    """Rescale the image in a sample to a given size."""

    def __init__(self, output_size):
        assert isinstance(output_size, (int, tuple))
        self.output_size = output_size

    def __call__(self, sample):
        image, landmarks = sample["image"], sample["landmarks"]
        h, w = image.shape[:2]
        if isinstance(self.output_size, int):
            if h > w:
                new_h, new_w = self.output_size * h / w, self.output_size
            else:
                new_h, new_w = self.output_size, self.output_size * w / h
        else:
            new_h, new_w = self.output_size
        new_h, new_w = int(new_h), int(new_w)
        img = F.interpolate(image.permute(2, 0, 1)[None].float(), size=(new_h, new_w), mode="bilinear")[0].permute(
            1, 2, 0
        )
        landmarks = landmarks * torch.tensor([new_w / w, new_h / h])
        return {"image": img, "landmarks": landmarks}


class RandomCrop(object):
    def __init__(self, output_size):
        assert isinstance(output_size, (int, tuple))
        if isinstance(output_size, int):
            self.output_size = (output_size, output_size)
        else:
            assert len(output_size) == 2
            self.output_size = output_size

    def __call__(self, sample):
        image, landmarks = sample["image"], sample["landmarks"]
        h, w = image.shape[:2]
        new_h, new_w = self.output_size
        top = random.randint(0, h - new_h)
        left = random.randint(0, w - new_w)
        image = image[top : top + new_h, left : left + new_w]
        landmarks = landmarks - torch.tensor([left, top])
        return {"image": image, "landmarks": landmarks}


class ToTensor(object):
    def __call__(self, sample):
        image, landmarks = sample["image"], sample["landmarks"]
        image = image.permute((2, 0, 1)).contiguous()
        return {"image": image, "landmarks": landmarks}


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img

    def __repr__(self):
        format_string = self.__class__.__name__ + "("
        for t in self.transforms:
            format_string += "\n"
            format_string += f"    {t.__class__.__name__}"
        format_string += "\n)"
        return format_string


random.seed(1)
torch.manual_seed(1)
face_dataset = FaceLandmarksDataset(14)
for i, sample in enumerate(face_dataset):
    print(i, list(sample["image"].shape), list(sample["landmarks"].shape))
    if i == 3:
        break
scale = Rescale(9)
crop = RandomCrop(8)
composed = Compose([Rescale(9), RandomCrop(8)])
sample = face_dataset[5]
for i, tsfrm in enumerate([scale, crop, composed]):
    transformed_sample = tsfrm(sample)
    print(type(tsfrm).__name__, list(transformed_sample["image"].shape), transformed_sample["landmarks"].mean())
print(composed)

transformed_dataset = FaceLandmarksDataset(count=14, transform=Compose([Rescale((9, 10)), RandomCrop(8), ToTensor()]))
train_set, val_set = random_split(transformed_dataset, [10, 4])
print(len(train_set), len(val_set))
dataloader = DataLoader(train_set, batch_size=4, shuffle=True, num_workers=0, drop_last=True)


class Landmarks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.fc = torch.nn.LazyLinear(8)

    def forward(self, x):
        x = F.relu(self.conv(x / 255.0))
        return self.fc(torch.flatten(x, start_dim=1)).view(-1, 4, 2)


net = Landmarks()
net(torch.zeros(1, 3, 8, 8))
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-2)
for epoch in range(3):
    for i_batch, sample_batched in enumerate(dataloader):
        images_batch, landmarks_batch = sample_batched["image"], sample_batched["landmarks"]
        batch_size = len(images_batch)
        optimizer.zero_grad()
        loss = F.l1_loss(net(images_batch), landmarks_batch)
        loss.backward()
        optimizer.step()
        print(i_batch, list(sample_batched["image"].size()), batch_size, f"{loss:.5f}")


def collate(batch):
    lengths = torch.tensor([len(b["landmarks"]) for b in batch])
    names = [k for k, v in batch[0].items()]
    return {"lengths": lengths, "names": names, "sum": sum([b["image"].sum() for b in batch])}


for batch in DataLoader(val_set, batch_size=3, collate_fn=collate):
    print(batch["lengths"], " ".join(batch["names"]), f"{batch['sum'].item():.2f}")
