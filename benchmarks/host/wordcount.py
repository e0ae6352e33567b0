def text_of(n):
    words = []
    seed = 7
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        words.append(f"Word{seed // 65536 % 1000}" + ("," if i % 7 == 0 else ""))
    return " ".join(words)


def count(text):
    counts = {}
    for word in text.lower().split(" "):
        plain = word.strip(",")
        counts[plain] = counts.get(plain, 0) + 1
    return counts


counts = count(text_of(400000))
ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
for pair in ordered[:5]:
    print(pair[0], pair[1])
