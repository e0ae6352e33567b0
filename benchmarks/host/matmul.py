def product(a, b, n):
    made = []
    for i in range(n):
        row = a[i]
        line = []
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += row[k] * b[k][j]
            line.append(total)
        made.append(line)
    return made


n = 120
a = [[(i - j) * 0.5 for j in range(n)] for i in range(n)]
b = [[(i + j) * 0.25 for j in range(n)] for i in range(n)]
c = product(a, b, n)
print(c[0][0], c[n // 2][n // 2], c[n - 1][n - 1])
