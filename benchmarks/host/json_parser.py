class Parser:
    def __init__(self, text, at):
        self.text = text
        self.at = at

    def skip_spaces(self):
        while self.at < len(self.text) and self.text[self.at] in " \n\t\r":
            self.at += 1

    def value(self):
        self.skip_spaces()
        c = self.text[self.at]
        if c == "{":
            return self.object()
        if c == "[":
            return self.array()
        if c == '"':
            return self.string()
        if c == "t":
            self.at += 4
            return True
        if c == "f":
            self.at += 5
            return False
        if c == "n":
            self.at += 4
            return None
        return self.number()

    def object(self):
        made = {}
        self.at += 1
        self.skip_spaces()
        if self.text[self.at] == "}":
            self.at += 1
            return made
        while True:
            self.skip_spaces()
            key = self.string()
            self.skip_spaces()
            self.at += 1
            made[key] = self.value()
            self.skip_spaces()
            c = self.text[self.at]
            self.at += 1
            if c == "}":
                return made

    def array(self):
        made = []
        self.at += 1
        self.skip_spaces()
        if self.text[self.at] == "]":
            self.at += 1
            return made
        while True:
            made.append(self.value())
            self.skip_spaces()
            c = self.text[self.at]
            self.at += 1
            if c == "]":
                return made

    def string(self):
        self.at += 1
        start = self.at
        while self.text[self.at] != '"':
            if self.text[self.at] == "\\":
                self.at += 1
            self.at += 1
        found = self.text[start : self.at]
        self.at += 1
        return found

    def number(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789+-.eE":
            self.at += 1
        found = self.text[start : self.at]
        if "." in found or "e" in found:
            return float(found)
        return int(found)


def document(n):
    rows = []
    for i in range(n):
        name = f'"name": "row number {i}"'
        nested = '"nested": {"ok": true, "none": null}'
        rows.append(f'{{"id": {i}, {name}, "score": {i}.25, "tags": ["a", "bc"], {nested}}}')
    return "[" + ", ".join(rows) + "]"


source = document(5000)
total = 0.0
for row in Parser(text=source, at=0).value():
    total += row["score"] + len(row["tags"]) + row["id"]
print(len(source), total)
