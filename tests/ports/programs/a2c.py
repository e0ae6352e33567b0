"""Advantage actor-critic with generalized advantage estimates on a cliff walk."""

from collections import deque, namedtuple
from enum import Enum, auto

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

Step = namedtuple("Step", ["log_prob", "value", "entropy", "reward", "done"])


class Action(Enum):
    UP = auto()
    RIGHT = auto()
    DOWN = auto()
    LEFT = auto()

    @property
    def move(self):
        return {Action.UP: (-1, 0), Action.RIGHT: (0, 1), Action.DOWN: (1, 0), Action.LEFT: (0, -1)}[self]


class CliffWalk:
    """Start in the lower left corner, reach the lower right one; the cells between are a cliff."""

    def __init__(self, rows=3, columns=5):
        self.rows, self.columns = rows, columns

    def reset(self):
        self.row, self.column = self.rows - 1, 0
        self.steps = 0
        return self.observation()

    def observation(self):
        state = torch.zeros(self.rows, self.columns)
        state[self.row, self.column] = 1
        return state.flatten()

    def step(self, action):
        down, right = action.move
        self.row = min(max(self.row + down, 0), self.rows - 1)
        self.column = min(max(self.column + right, 0), self.columns - 1)
        self.steps += 1
        at_bottom = self.row == self.rows - 1
        if at_bottom and 0 < self.column < self.columns - 1:
            return self.observation(), -10.0, True
        done = (at_bottom and self.column == self.columns - 1) or self.steps >= 30
        return self.observation(), -1.0, done


class ActorCritic(nn.Module):
    def __init__(self, inputs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, 24), nn.Tanh())
        self.policy = nn.Linear(24, actions)
        self.value = nn.Linear(24, 1)

    def forward(self, x):
        x = self.body(x)
        return Categorical(logits=self.policy(x)), self.value(x).squeeze(-1)


def rollout(env, model, length):
    """Yields steps; an episode that ends is followed by another one."""
    actions = list(Action)
    state = env.reset()
    for _ in range(length):
        policy, value = model(state)
        choice = policy.sample()
        state, reward, done = env.step(actions[choice.item()])
        yield Step(policy.log_prob(choice), value, policy.entropy(), reward, done)
        if done:
            state = env.reset()


def advantages(steps, last_value, gamma=0.95, lam=0.9):
    result = deque()
    gae = 0.0
    for step in reversed(steps):
        mask = 0.0 if step.done else 1.0
        delta = step.reward + gamma * last_value * mask - step.value.item()
        gae = delta + gamma * lam * mask * gae
        result.appendleft(gae)
        last_value = step.value.item()
    return torch.tensor(list(result))


def main():
    torch.manual_seed(0)
    env = CliffWalk()
    model = ActorCritic(env.rows * env.columns, len(Action))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    recent = deque(maxlen=20)
    for update in range(1, 41):
        steps, episode = [], 0.0
        for step in rollout(env, model, 32):
            steps.append(step)
            episode += step.reward
            if step.done:
                recent.append(episode)
                episode = 0.0
        adv = advantages(steps, 0.0 if steps[-1].done else steps[-1].value.item())
        log_probs = torch.stack([s.log_prob for s in steps])
        values = torch.stack([s.value for s in steps])
        entropy = torch.stack([s.entropy for s in steps]).mean()
        policy_loss = -(log_probs * adv).mean()
        value_loss = F.smooth_l1_loss(values, adv + values.detach())
        loss = policy_loss + 0.5 * value_loss - 0.02 * entropy
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if update % 10 == 0:
            mean = sum(recent) / len(recent)
            print(f"update {update:2d} loss {loss.item():8.4f} entropy {entropy.item():.4f} "
                  f"norm {norm.item():.3f} return {mean:.2f} of {len(recent)}")
    policy, value = model(env.reset())
    best = list(Action)[policy.probs.argmax().item()]
    print(best, best.name, best.value, " ".join([f"{p:.3f}" for p in policy.probs.tolist()]), f"{value.item():.3f}")


if __name__ == "__main__":
    main()
