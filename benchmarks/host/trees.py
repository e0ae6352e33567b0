class Node:
    def __init__(self, left, right):
        self.left = left
        self.right = right


def make(depth):
    return Node(None, None) if depth == 0 else Node(make(depth - 1), make(depth - 1))


def check(node):
    return 1 if node.left is None else 1 + check(node.left) + check(node.right)


def work():
    total = 0
    for _ in range(20):
        total = total + check(make(12))
    return total


print(work())
