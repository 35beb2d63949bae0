"""Have values described that hold each other in many ways: prints how many were gone through, and the digest of the text.

With the argument "keys" only the keys are printed, as the base can too.
"""

import functools
import hashlib
import sys

import common
from triton.compiler import ASTSource


class Node:
    def __init__(self, number=0):
        self.number = number


class Config:
    def __init__(self, nodes):
        self.nodes = nodes

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return 7

    def __repr__(self):
        return "Config"


def acquainted(count):
    """Make objects each of which knows all others."""
    nodes = [Node(number) for number in range(count)]
    for node in nodes:
        node.peers = [other for other in nodes if other is not node]
    return nodes


def chain(count, last=0):
    first = node = Node()
    for number in range(count):
        node.next = Node(number)
        node = node.next
    node.number = last
    return first


def calling_layers(layers, width, last="x"):
    """Make a function that calls helpers, each of which calls all helpers of the next layer."""
    scope = {"__name__": "helpers"}
    exec("\n".join(f"def f0_{place}(x):\n    return {last}" for place in range(width)), scope)
    for layer in range(1, layers + 1):
        calls = " + ".join(f"f{layer - 1}_{place}(x)" for place in range(width))
        exec("\n".join(f"def f{layer}_{place}(x):\n    return {calls}" for place in range(width)), scope)
    return scope[f"f{layers}_0"]


class Calling:
    def __init__(self, function):
        self.__class__ = type("Calling", (Calling,), {"size": function})


def nested(depth):
    return functools.reduce(lambda inner, _: [inner, Node()], range(depth), [])


def shared(depth):
    return functools.reduce(lambda inner, _: (inner, inner), range(depth), Node())


cyclic = [Node()]
cyclic.append(cyclic)

VALUES = {
    "acquainted": Config(acquainted(8)),
    "acquainted_other": Config([*acquainted(7), Node()]),
    "many_acquainted": Config(acquainted(60)),
    "acquainted_in_set": Config(set(acquainted(6))),
    "chain": Config(chain(400)),
    "chain_other": Config(chain(400, last=1)),
    "layers": Calling(calling_layers(10, 4)),
    "layers_other": Calling(calling_layers(10, 4, last="x + 1")),
    "bound_method": Calling(calling_layers(10, 4)).size,
    "nested": nested(2000),
    "shared": shared(60),
    "cyclic": cyclic,
    "long_chain": Config(chain(100_000)),
    "wide": Config([Node(number) for number in range(100_000)]),
}

if __name__ == "__main__":
    answer = {}
    if sys.argv[1] == "described":
        from triton.fork.cache_key import content_texts, descriptions

        entered = 0

        class Counted(descriptions.Description):
            def __init__(self, short, parts):
                def counting(value):
                    global entered
                    entered += 1
                    return parts(value)

                super().__init__(short, counting)

        content_texts.Description = Counted
        for name, value in VALUES.items():
            entered = 0
            text = content_texts.describe(value)
            answer[name] = [entered, hashlib.sha256(text.encode()).hexdigest(), text[:20]]
    else:
        del VALUES["shared"]  # whose text has 2^60 parts
        for name, value in VALUES.items():
            source = ASTSource(common.kernel, {"p": "*i32", "N": "constexpr"}, {"N": value})
            answer[name] = common.outcome(source.hash)
    common.report(answer)
