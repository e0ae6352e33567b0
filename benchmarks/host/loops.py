def work():
    total = 0
    for i in range(1000):
        for j in range(1000):
            total = total + (i * j) % 7
    k = 0
    while k < 1000000:
        k += 1
        if k % 3 == 0:
            total -= 1
    return total


print(work())
