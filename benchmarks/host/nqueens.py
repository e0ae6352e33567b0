def place(row, n, columns, rising, falling):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        if not columns[column] and not rising[row + column] and not falling[row - column + n]:
            c = list(columns)
            r = list(rising)
            f = list(falling)
            c[column] = True
            r[row + column] = True
            f[row - column + n] = True
            count += place(row + 1, n, c, r, f)
    return count


print(place(0, 8, [False] * 8, [False] * 16, [False] * 17))
print(place(0, 9, [False] * 9, [False] * 18, [False] * 19))
