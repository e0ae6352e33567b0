def jumps_of(code):
    jumps = [0] * len(code)
    start = []
    for i in range(len(code)):
        if code[i] == "[":
            start.append(i)
        elif code[i] == "]":
            first = start.pop()
            jumps[first] = i
            jumps[i] = first
    return jumps


def run(code):
    jumps = jumps_of(code)
    symbols = list(code)
    tape = [0] * 300
    out = ""
    at = 0
    pc = 0
    while pc < len(symbols):
        c = symbols[pc]
        if c == ">":
            at += 1
        elif c == "<":
            at -= 1
        elif c == "+":
            tape[at] = (tape[at] + 1) % 256
        elif c == "-":
            tape[at] = (tape[at] + 255) % 256
        elif c == ".":
            out += chr(tape[at])
        elif (c == "[" and tape[at] == 0) or (c == "]" and tape[at] != 0):
            pc = jumps[pc]
        pc += 1
    return out


squares = (
    "++++[>+++++<-]>[<+++++>-]+<+[>[>+>+<<-]++>>[<<+>>-]>>>[-]++>[-]+>>>+[[-]++++++>>>]<<<[[<++++++++<++>"
    ">-]+<.<[>----<-]<]<<[>>>>>[>>>[-]+++++++++<[>-<-]+++++++++>[-[<->-]+[<<<]]<[>+<-]>]<<-]<<-]"
)
first = run(squares)
length = 0
for _ in range(5):
    length += len(run(squares))
print(first.split("\n")[-2], length)
