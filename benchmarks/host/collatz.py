def longest(limit):
    known = {1: 1}
    best = 1
    best_length = 1
    for start in range(2, limit):
        n = start
        steps = 0
        while n >= start or n not in known:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
            if n == 1:
                break
        length = steps + known[n]
        known[start] = length
        if length > best_length:
            best = start
            best_length = length
    return (best, best_length)


best, length = longest(150000)
print(best, length)
