def built(n):
    text = ""
    for i in range(n):
        text += f"{i},"
    parts = text.split(",")
    total = 0
    for part in parts:
        total += len(part)
    joined = "".join(map(lambda part: f"<{part}>", parts))
    return (len(text), total, len(joined), joined[-12:])


print("({}, {}, {}, {})".format(*built(400000)))
