class Packet:
    def __init__(self, link, destination, kind, datum, data):
        self.link = link
        self.destination = destination
        self.kind = kind
        self.datum = datum
        self.data = data


class Task:
    def __init__(self, id, priority, queue, waits, held, runs):
        self.id = id
        self.priority = priority
        self.queue = queue
        self.waits = waits
        self.held = held
        self.runs = runs

    def can_run(self):
        return not self.held and (not self.waits or self.queue is not None)


def appended(queue, packet):
    packet.link = None
    if queue is None:
        return packet
    last = queue
    while last.link is not None:
        last = last.link
    last.link = packet
    return queue


class Kernel:
    def __init__(self, tasks, sent, holds):
        self.tasks = tasks
        self.sent = sent
        self.holds = holds

    def send(self, packet, origin):
        self.sent += 1
        packet.datum = origin
        target = self.tasks[packet.destination]
        target.queue = appended(target.queue, packet)
        target.held = False

    def schedule(self, rounds):
        left = rounds
        while left > 0:
            chosen = None
            for task in self.tasks:
                if task.can_run() and (chosen is None or task.priority > chosen.priority):
                    chosen = task
            if chosen is None:
                return
            packet = chosen.queue
            if packet is not None:
                chosen.queue = packet.link
                packet.link = None
            chosen.runs += 1
            chosen.run(packet, self)
            left -= 1


class Idle(Task):
    def __init__(self, seed, **fields):
        super().__init__(**fields)
        self.seed = seed

    def run(self, packet, kernel):
        self.seed = (self.seed * 1103515245 + 12345) % 2147483648
        which = 3 + self.seed // 65536 % 2
        kernel.tasks[which].held = False
        kernel.tasks[which].waits = False
        kernel.holds += 1


class Worker(Task):
    def __init__(self, letter, **fields):
        super().__init__(**fields)
        self.letter = letter

    def run(self, packet, kernel):
        if packet is None:
            self.waits = True
            return
        packet.destination = 3 + packet.datum % 2
        for i in range(4):
            self.letter = self.letter % 26 + 1
            packet.data[i] = self.letter
        kernel.send(packet, self.id)
        self.waits = True


class Handler(Task):
    def __init__(self, work, done, **fields):
        super().__init__(**fields)
        self.work = work
        self.done = done

    def run(self, packet, kernel):
        if packet is not None:
            self.work = appended(self.work, packet)
        if self.work is not None:
            first = self.work
            self.work = first.link
            self.done += first.data[0] + first.data[3]
            first.destination = 5 + self.done % 2
            kernel.send(first, self.id)
        self.waits = True


class Device(Task):
    def run(self, packet, kernel):
        if packet is not None:
            packet.destination = 1 + packet.datum % 2
            kernel.send(packet, self.id)
        self.waits = True


def kernel_with_tasks():
    kernel = Kernel(tasks=[], sent=0, holds=0)
    kernel.tasks.append(Idle(id=0, priority=0, queue=None, waits=False, held=False, runs=0, seed=1))
    for id in range(1, 3):
        kernel.tasks.append(Worker(id=id, priority=1000, queue=None, waits=True, held=False, runs=0, letter=id))
    for id in range(3, 5):
        kernel.tasks.append(
            Handler(id=id, priority=2000 + id, queue=None, waits=True, held=False, runs=0, work=None, done=0)
        )
    for id in range(5, 7):
        kernel.tasks.append(Device(id=id, priority=4000 + id, queue=None, waits=True, held=False, runs=0))
    for i in range(6):
        kernel.send(Packet(link=None, destination=1 + i % 2, kind=i, datum=0, data=[0, 0, 0, 0]), i)
    return kernel


kernel = kernel_with_tasks()
kernel.schedule(100000)
print(kernel.sent, kernel.holds, [task.runs for task in kernel.tasks])
