"""A whole program: ResNet-18 classifies one image."""

import torch
import torchvision

torch.set_num_threads(1)
torch.manual_seed(0)
model = torchvision.models.resnet18().eval()
with torch.no_grad():
    print(model(torch.randn(1, 3, 224, 224)).argmax().item())
