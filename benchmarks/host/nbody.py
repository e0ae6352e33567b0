from math import sqrt


class Body:
    def __init__(self, x, y, z, vx, vy, vz, mass):
        self.x, self.y, self.z = x, y, z
        self.vx, self.vy, self.vz = vx, vy, vz
        self.mass = mass


def bodies():
    return [
        Body(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.478),
        Body(4.841, -1.160, -0.103, 0.606, 2.811, -0.025, 0.037),
        Body(8.343, 4.124, -0.403, -1.010, 1.825, 0.008, 0.011),
        Body(12.894, -15.111, -0.223, 1.082, 0.868, -0.010, 0.0017),
        Body(15.379, -25.919, 0.179, 0.979, 0.594, -0.034, 0.002),
    ]


def advance(all_bodies, dt):
    for i in range(len(all_bodies)):
        a = all_bodies[i]
        for j in range(i + 1, len(all_bodies)):
            b = all_bodies[j]
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            d2 = dx * dx + dy * dy + dz * dz
            mag = dt / (d2 * sqrt(d2))
            a.vx = a.vx - dx * b.mass * mag
            a.vy = a.vy - dy * b.mass * mag
            a.vz = a.vz - dz * b.mass * mag
            b.vx = b.vx + dx * a.mass * mag
            b.vy = b.vy + dy * a.mass * mag
            b.vz = b.vz + dz * a.mass * mag
    for b in all_bodies:
        b.x = b.x + dt * b.vx
        b.y = b.y + dt * b.vy
        b.z = b.z + dt * b.vz


def work():
    all_bodies = bodies()
    for _ in range(20000):
        advance(all_bodies, 0.01)
    return f"{all_bodies[0].x:.9f}"


print(work())
