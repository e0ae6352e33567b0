"""Twin delayed deep deterministic policy gradients on a point that moves to the origin."""

import argparse
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() and False else "cpu")


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super(Actor, self).__init__()
        self.l1 = nn.Linear(state_dim, 16)
        self.l2 = nn.Linear(16, 16)
        self.l3 = nn.Linear(16, action_dim)
        self.max_action = max_action

    def forward(self, state):
        a = F.relu(self.l1(state))
        a = F.relu(self.l2(a))
        return self.max_action * torch.tanh(self.l3(a))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super(Critic, self).__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 16)
        self.l2 = nn.Linear(16, 16)
        self.l3 = nn.Linear(16, 1)
        self.l4 = nn.Linear(state_dim + action_dim, 16)
        self.l5 = nn.Linear(16, 16)
        self.l6 = nn.Linear(16, 1)

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        q1 = F.relu(self.l1(sa))
        q1 = F.relu(self.l2(q1))
        q1 = self.l3(q1)
        q2 = F.relu(self.l4(sa))
        q2 = F.relu(self.l5(q2))
        q2 = self.l6(q2)
        return q1, q2

    def Q1(self, state, action):
        sa = torch.cat([state, action], 1)
        q1 = F.relu(self.l1(sa))
        q1 = F.relu(self.l2(q1))
        q1 = self.l3(q1)
        return q1


class ReplayBuffer(object):
    def __init__(self, state_dim, action_dim, max_size=int(1e3)):
        self.max_size = max_size
        self.ptr = 0
        self.size = 0
        self.state = torch.zeros((max_size, state_dim))
        self.action = torch.zeros((max_size, action_dim))
        self.next_state = torch.zeros((max_size, state_dim))
        self.reward = torch.zeros((max_size, 1))
        self.not_done = torch.zeros((max_size, 1))

    def add(self, state, action, next_state, reward, done):
        self.state[self.ptr] = state
        self.action[self.ptr] = action
        self.next_state[self.ptr] = next_state
        self.reward[self.ptr] = reward
        self.not_done[self.ptr] = 1.0 - done
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, batch_size):
        ind = torch.randint(0, self.size, size=(batch_size,))
        return (
            self.state[ind].to(device),
            self.action[ind].to(device),
            self.next_state[ind].to(device),
            self.reward[ind].to(device),
            self.not_done[ind].to(device),
        )


class TD3(object):
    def __init__(
        self,
        state_dim,
        action_dim,
        max_action,
        discount=0.99,
        tau=0.005,
        policy_noise=0.2,
        noise_clip=0.5,
        policy_freq=2,
    ):
        self.actor = Actor(state_dim, action_dim, max_action).to(device)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic = Critic(state_dim, action_dim).to(device)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.max_action = max_action
        self.discount = discount
        self.tau = tau
        self.policy_noise = policy_noise
        self.noise_clip = noise_clip
        self.policy_freq = policy_freq
        self.total_it = 0

    def select_action(self, state):
        state = torch.FloatTensor(state.reshape(1, -1)).to(device)
        return self.actor(state).cpu().data.flatten()

    def train(self, replay_buffer, batch_size=32):
        self.total_it += 1
        state, action, next_state, reward, not_done = replay_buffer.sample(batch_size)
        with torch.no_grad():
            noise = (torch.randn_like(action) * self.policy_noise).clamp(-self.noise_clip, self.noise_clip)
            next_action = (self.actor_target(next_state) + noise).clamp(-self.max_action, self.max_action)
            target_Q1, target_Q2 = self.critic_target(next_state, next_action)
            target_Q = torch.min(target_Q1, target_Q2)
            target_Q = reward + not_done * self.discount * target_Q
        current_Q1, current_Q2 = self.critic(state, action)
        critic_loss = F.mse_loss(current_Q1, target_Q) + F.mse_loss(current_Q2, target_Q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.total_it % self.policy_freq == 0:
            actor_loss = -self.critic.Q1(state, self.actor(state)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for param, target_param in zip(self.critic.parameters(), self.critic_target.parameters()):
                target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
            for param, target_param in zip(self.actor.parameters(), self.actor_target.parameters()):
                target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
        return critic_loss.item()

    def save(self, filename):
        torch.save(self.critic.state_dict(), filename + "_critic")
        torch.save(self.critic_optimizer.state_dict(), filename + "_critic_optimizer")
        torch.save(self.actor.state_dict(), filename + "_actor")
        torch.save(self.actor_optimizer.state_dict(), filename + "_actor_optimizer")

    def load(self, filename):
        self.critic.load_state_dict(torch.load(filename + "_critic"))
        self.critic_optimizer.load_state_dict(torch.load(filename + "_critic_optimizer"))
        self.critic_target = copy.deepcopy(self.critic)
        self.actor.load_state_dict(torch.load(filename + "_actor"))
        self.actor_optimizer.load_state_dict(torch.load(filename + "_actor_optimizer"))
        self.actor_target = copy.deepcopy(self.actor)


class PointEnv:
    max_episode_steps = 25

    def reset(self):
        self.p = torch.empty(2).uniform_(-1, 1)
        self.t = 0
        return self.p

    def step(self, action):
        self.p = self.p + 0.2 * action
        self.t += 1
        return self.p, -self.p.norm().item(), self.p.norm() < 0.1 or self.t >= self.max_episode_steps


def eval_policy(policy, eval_episodes=2):
    avg_reward = 0.0
    eval_env = PointEnv()
    for _ in range(eval_episodes):
        state, done = eval_env.reset(), False
        while not done:
            action = policy.select_action(state)
            state, reward, done = eval_env.step(action)
            avg_reward += reward
    avg_reward /= eval_episodes
    print("---------------------------------------")
    print(f"Evaluation over {eval_episodes} episodes: {avg_reward:.3f}")
    return avg_reward


parser = argparse.ArgumentParser()
parser.add_argument("--seed", default=0, type=int)
parser.add_argument("--start_timesteps", default=40, type=int)
parser.add_argument("--max_timesteps", default=120, type=int)
parser.add_argument("--expl_noise", default=0.1, type=float)
parser.add_argument("--tau", default=0.005, type=float)
parser.add_argument("--save_model", action="store_true")
args = parser.parse_args([])

torch.manual_seed(args.seed)
np.random.seed(args.seed)
kwargs = {"state_dim": 2, "action_dim": 2, "max_action": 1.0, "discount": 0.98, "tau": args.tau}
kwargs["policy_noise"] = 0.2 * 1.0
policy = TD3(**kwargs)
replay_buffer = ReplayBuffer(2, 2)
evaluations = [eval_policy(policy)]
env = PointEnv()
state, done = env.reset(), False
episode_reward, episode_timesteps, episode_num = 0, 0, 0
loss = 0
for t in range(int(args.max_timesteps)):
    episode_timesteps += 1
    if t < args.start_timesteps:
        action = torch.empty(2).uniform_(-1, 1)
    else:
        action = (policy.select_action(state) + torch.normal(0, args.expl_noise, size=(2,))).clip(-1.0, 1.0)
    next_state, reward, done = env.step(action)
    done_bool = float(done) if episode_timesteps < env.max_episode_steps else 0
    replay_buffer.add(state, action, next_state, reward, done_bool)
    state = next_state
    episode_reward += reward
    if t >= args.start_timesteps:
        loss = policy.train(replay_buffer, 16)
    if done:
        print(
            f"Total T: {t + 1} Episode Num: {episode_num + 1} Episode T: {episode_timesteps} Reward: {episode_reward:.3f}"
        )
        state, done = env.reset(), False
        episode_reward = 0
        episode_timesteps = 0
        episode_num += 1
    if (t + 1) % 40 == 0:
        evaluations.append(eval_policy(policy))
        print(f"{loss:.6f}")
policy.save("td3")
fresh = TD3(**kwargs)
fresh.load("td3")
print(torch.equal(fresh.select_action(state), policy.select_action(state)))
if args.save_model:
    print("saved")
