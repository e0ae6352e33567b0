def records(n):
    made = []
    seed = 12345
    for i in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        made.append((i, seed, f"name {seed // 65536 % 5000}"))
    return made


rows = records(100000)
by_number = sorted(rows, key=lambda r: r[1])
by_name = sorted(rows, key=lambda r: r[2])
by_both = sorted(rows, key=lambda r: (r[2], r[1]), reverse=True)
print(by_number[0][0], by_name[0][0], by_both[0][0], by_both[-1][0])
