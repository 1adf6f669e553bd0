"""Packing: what goes in comes out bit by bit, and nothing else is let in."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from skilldelta.estimators.base import Scored
from skilldelta.estimators.blend.slopes import Landmarks
from skilldelta.packing import DamagedError, pack, unpack

PLACES = Landmarks(np.array([[0.1, 0.2]]), 1 / 3, np.asfortranarray(np.arange(6.0).reshape(2, 3)))
SCORED = Scored(np.array([0.5]), np.array([-1.0]), np.array(["fä"]))


def test_a_dataclass_comes_back_bit_by_bit_in_the_same_memory_order() -> None:
    found = unpack(pack(PLACES), Landmarks)
    assert found.width == PLACES.width
    assert found.places.tobytes() == PLACES.places.tobytes()
    assert found.whitening.flags.f_contiguous
    assert not found.whitening.flags.c_contiguous
    np.testing.assert_array_equal(found.whitening, PLACES.whitening)
    assert unpack(pack(SCORED), Scored).families.tolist() == ["fä"]


def test_containers_keep_their_kind_and_keys() -> None:
    value = {("a", "b"): (1, None), 3: [True, "x", 0.1], "words": {"ä": 1, "b c": 2}, "none": {}}
    assert unpack(pack(value), dict) == value
    assert pack(unpack(pack(value), dict)) == pack(value)


@pytest.mark.parametrize("cut", [0, 3, 20, -1])
def test_a_piece_of_the_bytes_is_damage(cut: int) -> None:
    with pytest.raises(DamagedError):
        unpack(pack(PLACES)[:cut], Landmarks)


def test_every_flipped_byte_gives_damage_or_the_same_kind_of_value_and_never_another_error() -> None:
    whole = pack(SCORED)
    for at in range(len(whole)):
        broken = bytearray(whole)
        broken[at] ^= 0x55
        try:
            assert isinstance(unpack(bytes(broken), Scored), Scored)
        except DamagedError:
            continue


def test_more_bytes_another_kind_and_numbers_that_are_not_finite_are_damage() -> None:
    for data, kind in (
        (pack(PLACES) + b"x", Landmarks),
        (pack(PLACES), Scored),
        (pack(Landmarks(np.array([[np.nan]]), 1.0, np.eye(1))), Landmarks),
    ):
        with pytest.raises(DamagedError):
            unpack(data, kind)


def test_no_code_is_run_and_no_other_class_is_made() -> None:
    for name in (
        "builtins:eval",
        "os:system",
        "skilldelta.packing:pack",
        "skilldelta.errors:InputError",
        "skilldelta.no:X",
    ):
        header = json.dumps({"tree": {"class": name, "held": {}}, "arrays": []}).encode()
        with pytest.raises(DamagedError):
            unpack(b"SkDlP1\n" + len(header).to_bytes(8, "little") + header, object)
    objects = json.dumps({"tree": {"array": 0}, "arrays": [["|O", [1], False]]}).encode()
    with pytest.raises(DamagedError):
        unpack(b"SkDlP1\n" + len(objects).to_bytes(8, "little") + objects + pickle.dumps(1).ljust(8), object)


def test_no_module_is_loaded_because_data_names_it() -> None:
    import sys

    sys.modules.pop("skilldelta.__main__", None)
    whole = pack(SCORED).replace(b"skilldelta.estimators.base:Scored", b"skilldelta.__main__:run      xxxx")
    with pytest.raises(DamagedError):
        unpack(whole, Scored)
    assert "skilldelta.__main__" not in sys.modules
