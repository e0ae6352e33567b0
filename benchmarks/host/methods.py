class Counter:
    def __init__(self):
        self.n = 0

    def add(self, by):
        self.n = self.n + by

    def value(self):
        return self.n


def work():
    c = Counter()
    seen = 0
    for i in range(500000):
        c.add(i)
        seen = seen + c.value() % 3
    return seen


print(work())
