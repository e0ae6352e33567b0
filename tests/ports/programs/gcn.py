"""A two-layer graph convolution on a random graph."""

import torch
from torch import nn
from torch.nn import functional as F


class GraphConv(nn.Module):
    def __init__(self, input_dim, output_dim, use_bias=False):
        super().__init__()
        self.kernel = nn.Parameter(torch.Tensor(input_dim, output_dim))
        nn.init.xavier_normal_(self.kernel)
        self.bias = None
        if use_bias:
            self.bias = nn.Parameter(torch.Tensor(output_dim))
            nn.init.zeros_(self.bias)

    def forward(self, input_tensor, adj_mat):
        support = torch.mm(input_tensor, self.kernel)
        output = torch.spmm(adj_mat, support)
        if self.bias is not None:
            output = output + self.bias
        return output


class GCN(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, use_bias=True, dropout_p=0.1):
        super().__init__()
        self.gc1 = GraphConv(input_dim, hidden_dim, use_bias=use_bias)
        self.gc2 = GraphConv(hidden_dim, output_dim, use_bias=use_bias)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input_tensor, adj_mat):
        x = self.gc1(input_tensor, adj_mat)
        x = F.relu(x)
        x = self.dropout(x)
        x = self.gc2(x, adj_mat)
        return F.log_softmax(x, dim=1)


def normalized(adj_mat):
    adj_mat = adj_mat + torch.eye(adj_mat.size(0))
    degree_mat = torch.diag(adj_mat.sum(dim=1).pow(-0.5))
    return degree_mat @ adj_mat @ degree_mat


def test(model, criterion, inputs, target, mask):
    model.eval()
    with torch.no_grad():
        output = model(*inputs)
        output, target = output[mask], target[mask]
        loss = criterion(output, target)
        acc = (output.argmax(dim=1) == target).float().sum() / len(target)
    return loss.item(), acc.item()


torch.manual_seed(13)
labels = torch.arange(20) % 3
same = labels.unsqueeze(0) == labels.unsqueeze(1)
upper = torch.triu((torch.rand(20, 20) < torch.where(same, 0.6, 0.1)).float(), diagonal=1)
adj_mat = normalized(upper + upper.T).to_sparse()
features = F.one_hot(labels, 3).float() + torch.randn(20, 3)
idx = torch.randperm(len(labels))
idx_test, idx_train = idx[:6], idx[6:]
gcn = GCN(features.shape[1], 8, int(labels.max().item()) + 1)
optimizer = torch.optim.Adam(gcn.parameters(), lr=0.02, weight_decay=5e-4)
criterion = nn.NLLLoss()
for epoch in range(10):
    gcn.train()
    optimizer.zero_grad()
    output = gcn(features, adj_mat)
    loss = criterion(output[idx_train], labels[idx_train])
    loss.backward()
    optimizer.step()
    if epoch % 3 == 0:
        loss_train, acc_train = test(gcn, criterion, (features, adj_mat), labels, idx_train)
        loss_test, acc_test = test(gcn, criterion, (features, adj_mat), labels, idx_test)
        print(f"Epoch {epoch:04d}: train {loss_train:.4f} {acc_train:.4f}, test {loss_test:.4f} {acc_test:.4f}")
