def step(cells, width, height):
    made = []
    for y in range(height):
        above = cells[(y + height - 1) % height]
        row = cells[y]
        below = cells[(y + 1) % height]
        line = []
        for x in range(width):
            left = (x + width - 1) % width
            right = (x + 1) % width
            around = (
                above[left] + above[x] + above[right] + row[left] + row[right] + below[left] + below[x] + below[right]
            )
            line.append(1 if around == 3 or (around == 2 and row[x] == 1) else 0)
        made.append(line)
    return made


cells = [[1 if (x * 7 + y * 13 + x * y) % 5 < 2 else 0 for x in range(64)] for y in range(64)]
for _ in range(60):
    cells = step(cells, 64, 64)
print(sum(sum(row) for row in cells))
