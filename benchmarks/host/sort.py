def numbers(n):
    seed = 42
    xs = []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        xs.append(seed % 100000)
    return xs


def quick(xs):
    if len(xs) < 2:
        return xs
    pivot = xs[len(xs) // 2]
    low = []
    same = []
    high = []
    for x in xs:
        if x < pivot:
            low.append(x)
        elif x == pivot:
            same.append(x)
        else:
            high.append(x)
    return quick(low) + same + quick(high)


def work():
    xs = numbers(100000)
    ys = sorted(xs)
    return quick(xs)[500] + ys[500]


print(work())
