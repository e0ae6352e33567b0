"""A tiny AlphaZero for tic-tac-toe: MCTS with a policy and value network."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class TicTacToe:
    WINS = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def initial(self):
        return [0] * 9

    def legal(self, board):
        return [i for i, v in enumerate(board) if v == 0]

    def step(self, board, action, player):
        board = board[:]
        board[action] = player
        return board

    def winner(self, board):
        for a, b, c in self.WINS:
            if board[a] == board[b] == board[c] != 0:
                return board[a]
        return 0 if all(board) else None

    def encode(self, board, player):
        t = torch.tensor(board, dtype=torch.float32) * player
        return torch.stack([(t == 1).float(), (t == -1).float()]).flatten()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(18, 32), nn.ReLU())
        self.policy = nn.Linear(32, 9)
        self.value = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.policy(h), torch.tanh(self.value(h)).squeeze(-1)


class Node:
    def __init__(self, board, player, prior=0.0, parent=None, action=None):
        self.board = board
        self.player = player
        self.prior = prior
        self.parent = parent
        self.action = action
        self.children = {}
        self.visits = 0
        self.total = 0.0

    @property
    def q(self):
        return self.total / self.visits if self.visits else 0.0

    def ucb(self, c=1.5):
        return -self.q + c * self.prior * math.sqrt(self.parent.visits) / (1 + self.visits)

    def select(self):
        node = self
        while node.children:
            node = max(node.children.values(), key=lambda n: n.ucb())
        return node

    def backup(self, value):
        node = self
        while node is not None:
            node.visits += 1
            node.total += value
            value = -value
            node = node.parent


class MCTS:
    def __init__(self, game, net, sims=25):
        self.game, self.net, self.sims = game, net, sims

    @torch.no_grad()
    def evaluate(self, node):
        logits, value = self.net(self.game.encode(node.board, node.player))
        legal = self.game.legal(node.board)
        mask = torch.full((9,), float("-inf"))
        mask[legal] = 0
        probs = F.softmax(logits + mask, dim=0)
        for a in legal:
            node.children[a] = Node(self.game.step(node.board, a, node.player), -node.player, probs[a].item(), node, a)
        return value.item()

    def run(self, board, player):
        root = Node(board, player)
        for _ in range(self.sims):
            leaf = root.select()
            w = self.game.winner(leaf.board)
            if w is None:
                value = self.evaluate(leaf)
            else:
                value = w * leaf.player
            leaf.backup(value)
        pi = [0.0] * 9
        for a, child in root.children.items():
            pi[a] = child.visits / (root.visits - 1)
        return pi


game, net = TicTacToe(), Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
mcts = MCTS(game, net)
memory = []
for episode in range(4):
    board, player, history = game.initial(), 1, []
    while (result := game.winner(board)) is None:
        pi = mcts.run(board, player)
        history.append((board, player, pi))
        action = torch.multinomial(torch.tensor(pi), 1).item()
        board = game.step(board, action, player)
        player *= -1
    memory += [(game.encode(b, p), torch.tensor(pi), float(result * p)) for b, p, pi in history]
    states, pis, zs = (list(t) for t in zip(*memory[-16:]))
    for _ in range(5):
        logits, values = net(torch.stack(states))
        loss_p = -(torch.stack(pis) * F.log_softmax(logits, dim=1)).sum(dim=1).mean()
        loss_v = F.mse_loss(values, torch.tensor(zs))
        loss = loss_p + loss_v
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"episode {episode} moves {len(history)} result {result:+d} policy {loss_p:.6f} value {loss_v.item():.6f}")
    rows = ["".join(".XO"[v] for v in board[i : i + 3]) for i in range(0, 9, 3)]
    print(" / ".join(rows))
best = copy.deepcopy(net.state_dict())
print(sum(v.abs().sum().item() for v in best.values()))
