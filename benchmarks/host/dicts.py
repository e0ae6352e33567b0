def work():
    counts = {}
    for i in range(400000):
        key = i * 7919 % 1000
        counts[key] = counts.get(key, 0) + 1
    names = {}
    for i in range(100000):
        names[f"k{i % 500}"] = i
    total = 0
    for k, v in sorted(counts.items()):
        total = total + k * v
    return total + len(names)


print(work())
