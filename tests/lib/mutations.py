"""Damage to files, by a seed: what a disk, a cut transfer or an attacker does to their bytes."""
import struct

WORDS = (0, 1, 2, 0x7F, 0xFF, 0x1000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
WIDE = (0, 1, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 64)
NUMBERS = (b"0", b"-1", b"18446744073709551615", b"18446744073709551616", b"9" * 400, b"1e999", b"0x", b"")
UNIT = 64


def place(data, random):
    """Half of all damage goes where formats keep their counts and offsets: the first 4.5 KiB, and the last KiB."""
    where = random.random()
    if where < 0.35:
        return random.randrange(min(len(data), 512))
    if where < 0.5:
        return random.randrange(min(len(data), 4608))
    if where < 0.55:
        return random.randrange(max(0, len(data) - 1024), len(data))
    return random.randrange(len(data))


def flip(data, random, _):
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        data[place(data, random)] ^= 1 << random.randrange(8)


def word(data, random, _):
    for _ in range(random.choice((1, 1, 1, 3, 16))):
        at = place(data, random) & ~3
        if at + 8 > len(data):
            continue
        old = struct.unpack_from("<I", data, at)[0]
        near = (old + random.choice((-1, 1, -64, 64, old))) & 0xFFFFFFFF
        if random.random() < 0.6:
            struct.pack_into("<I", data, at, random.choice((*WORDS, near, near, random.randrange(len(data) // UNIT + 2), len(data))))
        else:
            struct.pack_into("<Q", data, at, random.choice((*WIDE, near, len(data))))


def copy(data, random, other):
    """A block of it, or of another file, in place of others: records that are sound, and not where they belong."""
    source = other if random.random() < 0.3 else data
    size = random.choice((4, 8, UNIT, UNIT, 4 * UNIT, 4096))
    begin, to = place(source, random), place(data, random)
    if size >= UNIT:
        begin, to = begin & ~(UNIT - 1), to & ~(UNIT - 1)
    block = bytes(source[begin:begin + size])
    data[to:to + len(block)] = block


def clear(data, random, _):
    at, size = place(data, random), random.choice((8, UNIT, 512, 4096, 65536))
    data[at:at + size] = bytes((random.choice((0, 0xFF)),)) * len(data[at:at + size])


def cut(data, random, _):
    del data[random.choice((0, 1, 3, random.randrange(len(data)), len(data) - 1, place(data, random))):]


def insert(data, random, other):
    at, size = place(data, random), random.choice((1, 4, UNIT, 4096))
    data[at:at] = bytes(other[:size]) if random.random() < 0.5 else random.randbytes(size)


def line(data, random, _):
    """Of text: a number that is none, a line twice, without its end, or very long."""
    lines = bytes(data).split(b"\n")
    at = random.randrange(len(lines))
    words = lines[at].split(b" ")
    how = random.randrange(5)
    if how == 0:
        words[random.randrange(len(words))] = random.choice(NUMBERS)
        lines[at] = b" ".join(words)
    elif how == 1:
        lines[at:at] = [lines[at]] * random.choice((1, 100))
    elif how == 2:
        lines[at] += b";" + lines.pop(random.randrange(len(lines))) if len(lines) > at + 1 else b""
    elif how == 3:
        lines[at] = lines[at][:20] * 5000
    else:
        lines[at] = random.randbytes(len(lines[at]))
    data[:] = b"\n".join(lines)


BINARY = (flip, word, word, word, copy, copy, clear, cut, insert)
TEXT = (flip, copy, clear, cut, insert, line, line, line)


def damaged(seed, random, other, kinds=BINARY):
    """A copy of `seed` with one to four kinds of damage. `other`: whose bytes may come into it."""
    data = bytearray(seed)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if data:
            random.choice(kinds)(data, random, other)
    return bytes(data)
