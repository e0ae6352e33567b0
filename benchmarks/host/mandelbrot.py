def mandelbrot(size, limit):
    inside = 0
    for y in range(size):
        ci = 2.0 * y / size - 1.0
        for x in range(size):
            cr = 2.0 * x / size - 1.5
            zr = 0.0
            zi = 0.0
            n = 0
            while n < limit:
                r2 = zr * zr
                i2 = zi * zi
                if r2 + i2 > 4.0:
                    break
                zi = 2.0 * zr * zi + ci
                zr = r2 - i2 + cr
                n += 1
            if n == limit:
                inside += 1
    return inside


print(mandelbrot(200, 50))
