def primes(limit):
    sieve = [True] * (limit + 1)
    found = []
    for i in range(2, limit + 1):
        if sieve[i]:
            found.append(i)
            j = i * i
            while j <= limit:
                sieve[j] = False
                j = j + i
    return len(found)


print(primes(1000000))
