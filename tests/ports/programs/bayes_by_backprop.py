"""A Bayesian layer, a mixture density network and quantile regression on one curve."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, MixtureSameFamily, Normal, kl_divergence


class Gaussian(object):
    def __init__(self, mu, rho):
        super().__init__()
        self.mu = mu
        self.rho = rho
        self.normal = torch.distributions.Normal(0, 1)

    @property
    def sigma(self):
        return torch.log1p(torch.exp(self.rho))

    def sample(self):
        epsilon = self.normal.sample(self.rho.size())
        return self.mu + self.sigma * epsilon

    def log_prob(self, input):
        return (
            -math.log(math.sqrt(2 * math.pi)) - torch.log(self.sigma) - ((input - self.mu) ** 2) / (2 * self.sigma**2)
        ).sum()


class ScaleMixtureGaussian(object):
    def __init__(self, pi, sigma1, sigma2):
        super().__init__()
        self.pi = pi
        self.gaussian1 = torch.distributions.Normal(0, sigma1)
        self.gaussian2 = torch.distributions.Normal(0, sigma2)

    def log_prob(self, input):
        prob1 = torch.exp(self.gaussian1.log_prob(input))
        prob2 = torch.exp(self.gaussian2.log_prob(input))
        return (torch.log(self.pi * prob1 + (1 - self.pi) * prob2)).sum()


class BayesianLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight_mu = nn.Parameter(torch.Tensor(out_features, in_features).uniform_(-0.2, 0.2))
        self.weight_rho = nn.Parameter(torch.Tensor(out_features, in_features).uniform_(-5, -4))
        self.weight = Gaussian(self.weight_mu, self.weight_rho)
        self.bias_mu = nn.Parameter(torch.Tensor(out_features).uniform_(-0.2, 0.2))
        self.bias_rho = nn.Parameter(torch.Tensor(out_features).uniform_(-5, -4))
        self.bias = Gaussian(self.bias_mu, self.bias_rho)
        self.weight_prior = ScaleMixtureGaussian(0.5, math.exp(-0), math.exp(-6))
        self.bias_prior = ScaleMixtureGaussian(0.5, math.exp(-0), math.exp(-6))
        self.log_prior = 0
        self.log_variational_posterior = 0

    def forward(self, input, sample=False, calculate_log_probs=False):
        if self.training or sample:
            weight = self.weight.sample()
            bias = self.bias.sample()
        else:
            weight = self.weight.mu
            bias = self.bias.mu
        if self.training or calculate_log_probs:
            self.log_prior = self.weight_prior.log_prob(weight) + self.bias_prior.log_prob(bias)
            self.log_variational_posterior = self.weight.log_prob(weight) + self.bias.log_prob(bias)
        else:
            self.log_prior, self.log_variational_posterior = 0, 0
        return F.linear(input, weight, bias)


class BayesianNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = BayesianLinear(1, 10)
        self.l2 = BayesianLinear(10, 1)

    def forward(self, x, sample=False):
        x = torch.tanh(self.l1(x, sample))
        return self.l2(x, sample)

    def log_prior(self):
        return self.l1.log_prior + self.l2.log_prior

    def log_variational_posterior(self):
        return self.l1.log_variational_posterior + self.l2.log_variational_posterior

    def sample_elbo(self, input, target, samples=2):
        outputs = torch.zeros(samples, len(input), 1)
        log_priors = torch.zeros(samples)
        log_variational_posteriors = torch.zeros(samples)
        for i in range(samples):
            outputs[i] = self(input, sample=True)
            log_priors[i] = self.log_prior()
            log_variational_posteriors[i] = self.log_variational_posterior()
        log_prior = log_priors.mean()
        log_variational_posterior = log_variational_posteriors.mean()
        negative_log_likelihood = F.mse_loss(outputs.mean(0), target, reduction="sum")
        loss = (log_variational_posterior - log_prior) / 16 + negative_log_likelihood
        return loss, log_prior, log_variational_posterior, negative_log_likelihood


class MDN(nn.Module):
    def __init__(self, n_hidden, n_gaussians):
        super(MDN, self).__init__()
        self.z_h = nn.Sequential(nn.Linear(1, n_hidden), nn.Tanh())
        self.z_pi, self.z_mu, self.z_sigma = (nn.Linear(n_hidden, n_gaussians) for _ in range(3))

    def forward(self, x):
        z_h = self.z_h(x)
        pi = F.softmax(self.z_pi(z_h), -1)
        sigma = torch.exp(self.z_sigma(z_h))
        mu = self.z_mu(z_h)
        return MixtureSameFamily(Categorical(pi), Normal(mu, sigma))


class QuantileLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.quantiles = quantiles

    def forward(self, preds, target):
        assert not target.requires_grad
        assert preds.size(0) == target.size(0)
        losses = []
        for i, q in enumerate(self.quantiles):
            errors = target - preds[:, i]
            losses.append(torch.max((q - 1) * errors, q * errors).unsqueeze(1))
        loss = torch.mean(torch.sum(torch.cat(losses, dim=1), dim=1))
        return loss


torch.manual_seed(17)
x = torch.linspace(-1, 1, 24)[:, None]
y = torch.sin(3 * x) + 0.1 * torch.randn_like(x)
net = BayesianNetwork()
optimizer = torch.optim.Adam(net.parameters())
net.train()
for epoch in range(5):
    net.zero_grad()
    loss, log_prior, log_variational_posterior, negative_log_likelihood = net.sample_elbo(x, y)
    loss.backward()
    optimizer.step()
    print(f"{loss:.4f} = {log_variational_posterior:.4f} - {log_prior:.4f} + {negative_log_likelihood:.4f}")
net.eval()
print(net(x).std().item(), net.log_prior())
mdn = MDN(8, 3)
optimizer = torch.optim.Adam(mdn.parameters(), lr=0.05)
for epoch in range(10):
    loss = -mdn(x).log_prob(y[:, 0]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 3 == 0:
        print(epoch, loss.data.tolist())
print(mdn(x[:2]).mean, mdn(x[:3]).sample().shape[0])
quantiles = [0.1, 0.5, 0.9]
model = nn.Sequential(nn.Linear(1, 8), nn.ELU(), nn.Linear(8, len(quantiles)))
loss_func = QuantileLoss(quantiles)
optimizer = torch.optim.Adagrad(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
for epoch in range(10):
    loss = loss_func(model(x), y.squeeze())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss:.6f}", kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0)))
