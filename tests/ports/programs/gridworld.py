"""Q-learning with a table and a network on a hand-written torus grid world."""

import heapq
import random
from collections import defaultdict, deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", ("state", "action", "reward", "next_state", "done"))
N = 5
MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
steps_done = 0


class InvalidMove(Exception):
    pass


class Grid:
    def __init__(self, walls=(), goal=(3, 4)):
        self.walls = set(walls)
        self.goal = goal
        self.pos = None
        self.done = False

    def reset(self):
        self.pos = (0, 0)
        return self.pos

    def _move(self, name):
        dr, dc = MOVES[name]
        r, c = (self.pos[0] + dr) % N, (self.pos[1] + dc) % N
        if (r, c) in self.walls:
            raise InvalidMove(f"wall at {r},{c}")
        return r, c

    def step(self, action):
        reward = -0.1
        try:
            self.pos = self._move(list(MOVES)[action])
        except InvalidMove:
            reward = -0.5
        finally:
            self.done = self.pos == self.goal
        return self.pos, (1.0 if self.done else reward), self.done

    def render(self):
        return "\n".join(
            "".join("#" if (r, c) in self.walls else "G" if (r, c) == self.goal else "." for c in range(N))
            for r in range(N)
        )


def epsilon_greedy(q, eps):
    global steps_done
    steps_done += 1
    if random.random() < eps:
        return random.randrange(len(MOVES))
    return max(range(len(q)), key=q.__getitem__)


def shortest(env):
    dist = {(0, 0): 0}
    heap = [(0, (0, 0))]
    while heap:
        d, (r, c) = heapq.heappop(heap)
        for dr, dc in MOVES.values():
            nxt = ((r + dr) % N, (c + dc) % N)
            if nxt in env.walls:
                continue
            if d + 1 < dist.get(nxt, 1 << 30):
                dist[nxt] = d + 1
                heapq.heappush(heap, (d + 1, nxt))
    return dist


random.seed(1)
torch.manual_seed(1)
env = Grid(walls=[(0, 4), (4, 0), (1, 1), (2, 3)])
print(env.render())
dist = shortest(env)
print(dist[env.goal], len(dist), max(dist.values()))
Q = defaultdict(lambda: [0.0] * len(MOVES))
replay = deque(maxlen=200)
lengths = []
for episode in range(40):
    s, done, t = env.reset(), False, 0
    while not done and t < 50:
        a = epsilon_greedy(Q[s], eps=max(0.05, 0.9 - episode / 40))
        s2, r, done = env.step(a)
        Q[s][a] += 0.5 * (r + 0.9 * max(Q[s2]) * (not done) - Q[s][a])
        replay.append(Transition(s, a, r, s2, done))
        s = s2
        t += 1
    lengths.append(t)
print(lengths[::8], sum(lengths[-10:]) / 10, steps_done, len(Q), len(replay))
print({k: round(max(v), 3) for k, v in sorted(Q.items())[:4]})

net = nn.Sequential(nn.Embedding(N * N, 8), nn.Linear(8, 4))
target = nn.Sequential(nn.Embedding(N * N, 8), nn.Linear(8, 4))
target.load_state_dict(net.state_dict())
opt = torch.optim.RMSprop(net.parameters(), lr=0.01)


def idx(s):
    return s[0] * N + s[1]


for step in range(60):
    batch = Transition(*zip(*random.sample(replay, 16)))
    states = torch.tensor([idx(s) for s in batch.state])
    actions = torch.tensor(batch.action).unsqueeze(1)
    rewards = torch.tensor(batch.reward)
    non_final = torch.tensor([not d for d in batch.done])
    q = net(states).gather(1, actions).squeeze(1)
    nxt = torch.zeros(16)
    with torch.no_grad():
        following = [idx(s) for s, d in zip(batch.next_state, batch.done) if not d]
        nxt[non_final] = target(torch.tensor(following)).max(1).values
    loss = F.smooth_l1_loss(q, rewards + 0.9 * nxt)
    opt.zero_grad()
    loss.backward()
    for p in net.parameters():
        p.grad.data.clamp_(-1, 1)
    opt.step()
    if step % 20 == 19:
        target.load_state_dict(net.state_dict())
        print(step, f"{loss.item():.6f}", non_final.sum().item())
arrows = dict(enumerate("^v<>"))
with torch.no_grad():
    acts = net(torch.arange(N * N)).argmax(1).view(N, N)
for row in acts.tolist():
    print(" ".join(arrows[a] for a in row))
