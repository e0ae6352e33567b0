"""A vision transformer: patch embedding, class token, attention blocks, and a head."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class PatchExtractor(nn.Module):
    def __init__(self, patch_size=4):
        super().__init__()
        self.patch_size = patch_size

    def forward(self, input_data):
        batch_size, channels, height, width = input_data.size()
        assert height % self.patch_size == 0 and width % self.patch_size == 0, f"size {height} x {width}"
        num_patches = height // self.patch_size * (width // self.patch_size)
        patches = input_data.unfold(2, self.patch_size, self.patch_size).unfold(3, self.patch_size, self.patch_size)
        return patches.permute(0, 2, 3, 1, 4, 5).contiguous().view(batch_size, num_patches, -1)


class InputEmbedding(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.latent_size = args["latent_size"]
        self.patcher = PatchExtractor(args["patch_size"])
        self.linear_projection = nn.Linear(3 * args["patch_size"] ** 2, self.latent_size)
        self.class_token = nn.Parameter(torch.randn(1, 1, self.latent_size))
        self.pos_embedding = nn.Parameter(torch.randn(1, 1, self.latent_size))

    def forward(self, input_data):
        linear_projection = self.linear_projection(self.patcher(input_data))
        b, n, _ = linear_projection.shape
        linear_projection = torch.cat((self.class_token.expand(b, -1, -1), linear_projection), dim=1)
        pos_embed = self.pos_embedding[:, :, :].expand(b, n + 1, -1)
        linear_projection += pos_embed
        return linear_projection


class EncoderBlock(nn.Module):
    def __init__(self, *, latent_size, num_heads, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(latent_size)
        self.attention = nn.MultiheadAttention(latent_size, num_heads, dropout, batch_first=True)
        self.enc_MLP = nn.Sequential(
            nn.Linear(latent_size, latent_size * 4),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(latent_size * 4, latent_size),
        )

    def forward(self, emb_patches):
        first_norm = self.norm(emb_patches)
        attention_out = self.attention(first_norm, first_norm, first_norm)[0]
        first_added = attention_out + emb_patches
        return self.enc_MLP(self.norm(first_added)) + first_added


class ViT(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embedding = InputEmbedding(args)
        self.encoders = nn.ModuleList(
            [EncoderBlock(latent_size=args["latent_size"], num_heads=args["heads"]) for _ in range(args["layers"])]
        )
        self.MLPHead = nn.Sequential(nn.LayerNorm(args["latent_size"]), nn.Linear(args["latent_size"], args["classes"]))

    def forward(self, test_input):
        enc_output = self.embedding(test_input)
        for enc_layer in self.encoders:
            enc_output = enc_layer(enc_output)
        return self.MLPHead(enc_output[:, 0])


torch.manual_seed(17)
args = {"latent_size": 12, "patch_size": 4, "heads": 3, "layers": 2, "classes": 4}
model = ViT(args)
print(sum(p.numel() for p in model.parameters() if p.requires_grad))
labels = torch.arange(12) % 4
images = torch.randn(12, 3, 8, 8) + labels[:, None, None, None]
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=4)
for epoch in range(6):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(f"epoch {epoch}: loss {loss.item():.5f}, lr {scheduler.get_last_lr()[0]:.6f}")
model.eval()
with torch.inference_mode():
    print((model(images).argmax(dim=-1) == labels).float().mean().item())
