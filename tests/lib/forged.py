"""Profiles that no recorder makes, byte by byte: docs/profile-file.md says what is where."""
import struct

HEADER, UNIT = 4096, 64
_STATE, _POOL, _OBJECTS, _PROCESSES, _PROCESS_COUNT, _COMMAND, _DEFERRED = 28, 32, 40, 44, 48, 52, 56
_LEDGER, _SAMPLES, _WEIGHT_SQUARES, _PATHS, _NAMES, _SCOPES, _RUNS = 320, 368, 376, 400, 404, 408, 412


class Profile:
    """A closed profile with the header of a sound one, and nothing else yet."""

    def __init__(self, sound):
        with open(sound, "rb") as file:
            self.header = bytearray(file.read(HEADER))
        self.pool = bytearray(UNIT)
        for field in (_OBJECTS, _PROCESSES, _PROCESS_COUNT, _COMMAND, _DEFERRED, _PATHS, _NAMES, _SCOPES, _RUNS):
            self.set(field, 0)
        self.header[_LEDGER:_LEDGER + 64] = bytes(64)
        self.set(_STATE, 2)

    def set(self, field, value):
        struct.pack_into("<I", self.header, field, value)

    def get(self, field):
        return struct.unpack_from("<I", self.header, field)[0]

    def take(self, data):
        """The unit that `data` begins at."""
        unit = len(self.pool) // UNIT
        self.pool += data + bytes(-len(data) % UNIT)
        return unit

    def add_object(self, path, build_id, positions, process="forged"):
        """A file with a tick at each of `positions`, a range, which are a process's."""
        start = positions[0] & ~0xFF
        blocks = ((positions[-1] - start) >> 8) + 1
        leaves = {block << 4 | cell: bytearray(2 * UNIT) for block in range(blocks) for cell in range(16)}
        for position in positions:
            at = position - start
            struct.pack_into("<Q", leaves[at >> 4], 8 * (at & 15), 1)
        units = {number: self.take(leaf) for number, leaf in leaves.items()}
        rows = [self.take(struct.pack("<16I", *(units[block << 4 | cell] for cell in range(16)))) for block in range(blocks)]
        directory = self.take(struct.pack(f"<{blocks}I", *rows))
        segment = self.take(struct.pack("<IIQQ", 0, directory, start, positions[-1] - start + 1))
        text = self.take(struct.pack("<I", len(path)) + path)
        record = struct.pack("<IIIIQQQiI", self.get(_OBJECTS), segment, text, 0, 0, 0, 0, 0, len(build_id)) + build_id
        self.set(_OBJECTS, self.take(record + bytes(2 * UNIT - len(record))))
        ticks = len(positions)
        for field in (_LEDGER, _SAMPLES, _WEIGHT_SQUARES):
            struct.pack_into("<Q", self.header, field, struct.unpack_from("<Q", self.header, field)[0] + ticks)
        record = struct.pack("<IiiIIIQQQ16s16s", self.get(_PROCESSES), 77, 1, 0, 3, 0, ticks, 0, 0, process.encode(), b"ring")
        self.set(_PROCESSES, self.take(record + bytes(2 * UNIT - len(record))))
        self.set(_PROCESS_COUNT, self.get(_PROCESS_COUNT) + 1)

    def write(self, path, names=b""):
        end = len(self.pool) // UNIT
        self.set(_POOL, end)
        self.set(_POOL + 4, end)
        self.set(_NAMES, end if names else 0)
        with open(path, "wb") as file:
            file.write(self.header + self.pool + names)
        return path


class Names:
    """A names section. Texts are (offset, bytes)."""

    def __init__(self):
        self.text = bytearray()
        self.objects, self.ranges, self.places, self.frames, self.sources = [], [], [], [], []

    def add_text(self, text):
        self.text += text
        return len(self.text) - len(text), len(text)

    def add_object(self, path, build_id, times=1):
        self.objects += [struct.pack("<IiIIII32s64x", 0, 0, *path, len(build_id), 62, build_id) + bytes(8)] * times

    def add_range(self, hits, span, name, code=(0, 0), object_index=0):
        self.ranges.append(struct.pack("<IIQQQQQ6I", object_index, 0, *hits, *span, span[0], *name, 0, 0, *code))

    def add_place(self, position, size, first_frame, frames, object_index=0):
        self.places.append(struct.pack("<IIQII", object_index, size, position, first_frame, frames))

    def add_frame(self, function, file, line=1):
        self.frames.append(struct.pack("<8I", *function, 0, 0, *file, line, 0))

    def add_source(self, path, text, changed_unix_ns=0):
        self.sources.append(struct.pack("<4IQ", *path, *text, changed_unix_ns))

    def bytes(self):
        body, places = bytearray(128), []
        for table in (self.objects, self.ranges, self.places, self.frames, self.sources):
            places += len(body), len(table)
            body += b"".join(table)
        struct.pack_into("<8sIIQ12Q", body, 0, b"pctnames", 1, 0, len(body) + len(self.text), len(body), len(self.text), *places)
        return bytes(body + self.text)
