"""Make programs of loops and branches by chance: ``programs.py FIRST COUNT`` prints the IR of each."""

import hashlib
import json
import random
import re
import sys

from compiling import load, text_of

NAMES = ("a", "b", "c", "d", "i", "j")
SIGNATURE = {"p": "*fp32", "n": "i32"}


class Program:
    """One kernel, the same for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.loops = 0
        self.has_while = False

    def text(self):
        """Give the source of the kernel, called ``kernel``, and of a function that it calls."""
        for name, value in zip(NAMES, ("tl.load(p)", "tl.load(p + 1)", "tl.load(p + 2) * 2.0", "a", "n + 1", "n * 2")):
            if name == "d" and self.random.random() < 0.6:
                value = "a + b"
            self.lines.append(f"    {name} = {value}")
        self.block(1, self.random.randint(2, 4), 3)
        for index, name in enumerate(NAMES[:4]):
            self.lines.append(f"    tl.store(p + {index}, {name})")
        self.lines.append("    tl.store(p + 4, (i + j).to(tl.float32))")
        helper = (
            "@triton.jit\ndef helper(x, y):\n    for k in range(2):\n        x, y = y, x + 1.0\n    return x, y\n\n\n"
        )
        kernel = "@triton.jit\ndef kernel(p, n, ON: tl.constexpr, SIZE: tl.constexpr):\n"
        return helper + kernel + "\n".join(self.lines) + "\n"

    def block(self, depth, length, budget):
        for _ in range(length):
            self.statement(depth, budget)

    def statement(self, depth, budget):
        kinds = ["assign"] * 5 + ["swap", "call", "copy"]
        if budget:
            kinds += ["for", "for", "while", "if", "if", "else", "constant", "static", "tuple", "select"]
        getattr(self, "make_" + self.random.choice(kinds))("    " * depth, depth, budget)

    def floating(self):
        return self.random.choice(NAMES[:4])

    def integer(self):
        return self.random.choice(NAMES[4:])

    def make_assign(self, indent, depth, budget):
        if self.random.random() < 0.7:
            name, other = self.floating(), self.floating()
            operation = self.random.choice("+-*")
            self.lines.append(f"{indent}{name} = {name} {operation} {other}")
        else:
            self.lines.append(f"{indent}{self.integer()} += {self.random.randint(1, 3)}")

    def make_copy(self, indent, depth, budget):
        self.lines.append(f"{indent}{self.floating()} = {self.floating()}")

    def make_swap(self, indent, depth, budget):
        one, other = self.random.sample(NAMES[:4], 2)
        self.lines.append(f"{indent}{one}, {other} = {other}, {one}")

    def make_call(self, indent, depth, budget):
        one, other = self.random.sample(NAMES[:4], 2)
        self.lines.append(f"{indent}{one}, {other} = helper({one}, {self.floating()})")

    def make_tuple(self, indent, depth, budget):
        self.lines.append(f"{indent}t = ({self.floating()}, {self.floating()})")
        self.make_for(indent, depth, budget)
        self.lines.append(f"{indent}{self.floating()} = t[{self.random.randint(0, 1)}]")

    def make_select(self, indent, depth, budget):
        self.lines.append(f"{indent}{self.floating()} = {self.floating()} if n > {budget} else {self.floating()}")

    def make_for(self, indent, depth, budget):
        self.loops += 1
        bounds = self.random.choice(["n", "0, n, 2", "n, 0, -1", "1, 8", "i, j"])
        variable = self.random.choice([f"k{self.loops}", f"k{self.loops}", "i"])
        self.lines.append(f"{indent}for {variable} in {self.random.choice(['range', 'tl.range'])}({bounds}):")
        self.block(depth + 1, self.random.randint(1, 3), budget - 1)

    def make_while(self, indent, depth, budget):
        self.lines.append(f"{indent}while {self.integer()} < {self.random.randint(2, 50)}:")
        self.block(depth + 1, self.random.randint(1, 3), budget - 1)

    def make_if(self, indent, depth, budget):
        self.lines.append(f"{indent}if {self.floating()} > {self.floating()}:")
        self.block(depth + 1, self.random.randint(1, 2), budget - 1)

    def make_else(self, indent, depth, budget):
        self.make_if(indent, depth, budget)
        self.lines.append(f"{indent}{self.random.choice(['else', 'elif n > 3'])}:")
        self.block(depth + 1, self.random.randint(1, 2), budget - 1)

    def make_constant(self, indent, depth, budget):
        self.lines.append(f"{indent}if {self.random.choice(['ON', 'not ON', 'SIZE > 2'])}:")
        self.block(depth + 1, self.random.randint(1, 2), budget - 1)

    def make_static(self, indent, depth, budget):
        self.lines.append(f"{indent}for s{depth} in tl.static_range(SIZE):")
        self.block(depth + 1, self.random.randint(1, 2), budget - 1)


def main(first, count, with_locations=False):
    """Print the digest of the IR of each program, names of values included, or the error."""
    answers = {}
    for seed in range(first, first + count):
        module = load(f"program{seed}", Program(seed).text())
        text = text_of(module.kernel, SIGNATURE, {"ON": seed % 2 == 0, "SIZE": 2})
        if "tt.func" in text and with_locations:
            text = hashlib.sha256(text.encode()).hexdigest()
        elif "tt.func" in text:
            bare = re.sub(r"(?m)^#loc.*\n| loc\(#.*", "", text)
            text = "same but for locations: " + hashlib.sha256(bare.encode()).hexdigest()
        answers[seed] = text
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), with_locations=sys.argv[3:] == ["locations"])
