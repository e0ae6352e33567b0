def distance(a, b):
    previous = list(range(len(b) + 1))
    for i in range(len(a)):
        current = [i + 1]
        for j in range(len(b)):
            least = previous[j]
            if a[i] != b[j]:
                least = least + 1
                if previous[j + 1] + 1 < least:
                    least = previous[j + 1] + 1
                if current[j] + 1 < least:
                    least = current[j] + 1
            current.append(least)
        previous = current
    return previous[len(b)]


def words(n):
    made = []
    seed = 42
    for _ in range(n):
        word = ""
        for _ in range(12):
            seed = (seed * 1103515245 + 12345) % 2147483648
            word += "abcdefgh"[seed // 65536 % 8]
        made.append(word)
    return made


texts = words(100)
total = 0
for i in range(len(texts)):
    for j in range(i):
        total += distance(texts[i], texts[j])
print(total)
