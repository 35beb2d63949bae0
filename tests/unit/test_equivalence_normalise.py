"""What is set aside before artifacts are compared, and what is not."""

from __future__ import annotations

import pytest

from fork.equivalence.normalise import number_values, strip_locations

MODULE = """\
#blocked = #ttg.blocked<{sizePerThread = [4]}>
#loc = loc("/srv/kernel.py":7:0)
#loc1 = loc(unknown)
#loc9 = loc(callsite(#loc1 at #loc))
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc("x"(#loc)), %n: i32 loc("a (b"(#loc))) {
    %at = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #blocked> loc(#loc9)
    %r = "tt.reduce"(%at) <{axis = 0 : i32}> ({
    ^bb0(%a: i32 loc(callsite("a"(#loc) at fused["b", #loc1])), %b: i32 loc(#loc)):
      tt.reduce.return %a : i32 loc(#loc9)
    }) : (tensor<8xi32, #blocked>) -> i32 loc(#loc9)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""

STRIPPED = """\
#blocked = #ttg.blocked<{sizePerThread = [4]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %at = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #blocked>
    %r = "tt.reduce"(%at) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      tt.reduce.return %a : i32
    }) : (tensor<8xi32, #blocked>) -> i32
    tt.return
  }
}
"""


def test_locations_are_cut_out_at_any_depth() -> None:
    assert strip_locations(MODULE) == STRIPPED


def test_modules_that_differ_in_lines_alone_become_equal() -> None:
    moved = MODULE.replace(":7:0", ":123:4").replace("#loc9", "#loc11")
    assert moved != MODULE
    assert strip_locations(moved) == strip_locations(MODULE)


@pytest.mark.parametrize(("old", "new"), [("end = 8", "end = 4"), ("axis = 0", "axis = 1"), ("%a : i32", "%b : i32")])
def test_everything_else_stays(old: str, new: str) -> None:
    assert strip_locations(MODULE.replace(old, new)) != strip_locations(MODULE)


def test_strings_that_look_like_locations_stay() -> None:
    text = r'tt.print " loc(#loc) \" loc(" {hex = false} : %x : i32 loc(#loc3)' + "\n"
    assert strip_locations(text) == r'tt.print " loc(#loc) \" loc(" {hex = false} : %x : i32' + "\n"


def test_a_location_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="without an end"):
        strip_locations("tt.return loc(callsite(#loc at #loc1)")


def test_values_are_numbered_in_the_order_of_appearance() -> None:
    text = 'tt.func @f(%x: i32) {\n  %y_0:2 = "a.%b"(%x)\n  %3 = add %y_0#1, %x\n}\ntt.func @g(%y_0: i32)\n'
    assert (
        number_values(text)
        == 'tt.func @f(%0: i32) {\n  %1:2 = "a.%b"(%0)\n  %2 = add %1#1, %0\n}\ntt.func @g(%0: i32)\n'
    )


def test_other_operands_stay_different_when_values_are_numbered() -> None:
    text = "%a = one\n%b = two\n%c = sub %a, %b\n"
    assert number_values(text) == number_values(text.replace("%a", "%name_7"))
    assert number_values(text) != number_values(text.replace("sub %a, %b", "sub %b, %a"))
    assert number_values(text) != number_values(text.replace("sub %a, %b", "sub %a, %a"))
