def work():
    s = ""
    for _ in range(200000):
        s += "ab"
    parts = []
    for i in range(100000):
        parts.append(f"{i}:{i * 2}")
    joined = ",".join(parts)
    return len(s) + len(joined) + len(joined.split(","))


print(work())
