import json

rows = [
    {"id": i, "name": f"row number {i}", "score": i * 0.37, "tags": ["a", "bc", "déf"],
     "nested": {"ok": i % 2 == 0, "none": None}}
    for i in range(40000)
]  # fmt: skip
total = 0
for _ in range(3):
    document = json.dumps(rows)
    total += len(json.loads(document)) + len(document)
print(total)
