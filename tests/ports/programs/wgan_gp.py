"""A Wasserstein GAN whose critic is penalized by the norm of its gradient."""

import torch
import torch.autograd as autograd
import torch.nn as nn

LAMBDA = 10
CRITIC_ITERS = 3
BATCH_SIZE = 16


class Generator(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        main = nn.Sequential(
            nn.Linear(2, dim),
            nn.ReLU(True),
            nn.Linear(dim, dim),
            nn.ReLU(True),
            nn.Linear(dim, 2),
        )
        self.main = main

    def forward(self, noise):
        return self.main(noise)


class Critic(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(2, dim), nn.LeakyReLU(0.2), nn.Linear(dim, 1))

    def forward(self, inputs):
        output = self.main(inputs)
        return output.view(-1)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        m.weight.data.normal_(0.0, 0.02)
        m.bias.data.fill_(0)


def calc_gradient_penalty(critic, real_data, fake_data):
    alpha = torch.rand(BATCH_SIZE, 1)
    alpha = alpha.expand(real_data.size())
    interpolates = alpha * real_data + ((1 - alpha) * fake_data)
    interpolates.requires_grad_(True)
    disc_interpolates = critic(interpolates)
    gradients = autograd.grad(
        outputs=disc_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones(disc_interpolates.size()),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * LAMBDA


def inf_train_gen():
    centers = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    centers = [(2 * x, 2 * y) for x, y in centers]
    while True:
        dataset = []
        for i in range(BATCH_SIZE):
            point = torch.randn(2) * 0.02
            center = centers[i % len(centers)]
            point[0] += center[0]
            point[1] += center[1]
            dataset.append(point)
        yield torch.stack(dataset) / 1.414


torch.manual_seed(1)
netG = Generator()
netD = Critic()
netD.apply(weights_init)
netG.apply(weights_init)
print(netG)
optimizerD = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))
optimizerG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
one = torch.tensor(1, dtype=torch.float)
mone = one * -1
data = inf_train_gen()

for iteration in range(6):
    for p in netD.parameters():
        p.requires_grad = True
    for iter_d in range(CRITIC_ITERS):
        real = next(data)
        netD.zero_grad()
        D_real = netD(real).mean()
        D_real.backward(mone)
        noise = torch.randn(BATCH_SIZE, 2)
        with torch.no_grad():
            fake = netG(noise)
        D_fake = netD(fake).mean()
        D_fake.backward(one)
        gradient_penalty = calc_gradient_penalty(netD, real, fake)
        gradient_penalty.backward()
        D_cost = D_fake - D_real + gradient_penalty
        Wasserstein_D = D_real - D_fake
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    noise = torch.randn(BATCH_SIZE, 2)
    G = netD(netG(noise)).mean()
    G.backward(mone)
    G_cost = -G
    optimizerG.step()
    print("iter: %d D cost: %.4f G cost: %.4f W: %.4f" % (iteration, D_cost.item(), G_cost.item(), Wasserstein_D.item()))
