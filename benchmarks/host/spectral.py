from math import sqrt


def a(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v, n):
    out = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total = total + a(i, j) * v[j]
        out.append(total)
    return out


def transposed_times(v, n):
    out = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total = total + a(j, i) * v[j]
        out.append(total)
    return out


def work(n):
    u = [1.0] * n
    v = []
    for _ in range(5):
        v = transposed_times(times(u, n), n)
        u = transposed_times(times(v, n), n)
    uv = 0.0
    vv = 0.0
    for i in range(n):
        uv = uv + u[i] * v[i]
        vv = vv + v[i] * v[i]
    return f"{sqrt(uv / vv):.9f}"


print(work(100))
