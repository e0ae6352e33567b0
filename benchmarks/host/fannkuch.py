def fannkuch(n):
    count = [i + 1 for i in range(n)]
    permutation = list(range(n))
    most = 0
    r = n
    while True:
        while r != 1:
            count[r - 1] = r
            r -= 1
        if permutation[0] != 0:
            flipped = list(permutation)
            flips = 0
            k = flipped[0]
            while k != 0:
                i = 0
                j = k
                while i < j:
                    kept = flipped[i]
                    flipped[i] = flipped[j]
                    flipped[j] = kept
                    i += 1
                    j -= 1
                flips += 1
                k = flipped[0]
            if flips > most:
                most = flips
        while True:
            if r == n:
                return most
            first = permutation[0]
            for i in range(r):
                permutation[i] = permutation[i + 1]
            permutation[r] = first
            count[r] = count[r] - 1
            if count[r] > 0:
                break
            r += 1


print(fannkuch(8))
