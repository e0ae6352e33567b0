def adder(n):
    return lambda x: x + n


def work():
    total = 0
    for i in range(300000):
        f = adder(i)
        total = total + f(1)
    xs = list(range(200000))
    return total + len(list(filter(lambda x: x % 3 == 0, map(lambda x: x * 2, xs))))


print(work())
