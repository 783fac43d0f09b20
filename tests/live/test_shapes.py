"""Corrections of inputs after errors: each can be made, whatever was tried and whatever the error says."""

from __future__ import annotations

import itertools

import pytest

from inplace_lint.live.child.synthesize.guesses import first_guesses, grown
from inplace_lint.live.child.synthesize.shapes import Spec, corrected

ERRORS = (
    "Given groups=1, weight of size [4, 3, 3, 3], expected input[2, 8, 16, 16] to have 3 channels, but got 8 channels",
    "weight of size [8, 8, 3, 3, 3], expected input[1, 2, 8, 16, 8] to have 8 channels, but got 2 channels instead",
    "running_mean should contain 4 elements not 8",
    "the number of channels in input, but got weight of shape [32] and input of shape [2, 512, 16, 16]",
    "mat1 and mat2 shapes cannot be multiplied (2x8 and 16x4)",
    "Given normalized_shape=[8], expected input with shape [*, 8], but got input of size[2, 8, 16, 16]",
    "not enough values to unpack (expected 4, got 2)",
    "too many values to unpack (expected 3)",
    "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [2, 8]",
    "Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    "tuple index out of range",
    "The size of tensor a (16) must match the size of tensor b (8) at non-singleton dimension 3",
    "Kernel size can't be greater than actual input size",
    "expected scalar type Long but found Float",
    "expected scalar type Float but found Long",
    "'Tensor' object is not a list: must be tuple of Tensors",
    "spatial dimensions [2, 3] of input image must be divisible by 2**5.",
    "spatial dimensions must be divisible by 2**9",
    "height must be a multiple of 0",
    "shape '[2, 3, 2, 7, 2, 7]' is invalid for input of size 1536",
    "shape '[2, 5, -1]' is invalid for input of size 4",
    "shape '[-1, 0]' is invalid for input of size 0",
    "Input image size (16*16) doesn't match model (224*224).",
)
SHAPES = ((), (2,), (2, 8), (2, 5, 8), (2, 8, 16, 16), (2, 8, 8, 16, 16))
SPECS = [Spec(kind, shape) for kind in ("float", "long", "bool", "list") for shape in SHAPES]
GUESSES = [
    (),
    *((one,) for one in SPECS),
    *itertools.product(SPECS[:6], SPECS[:12]),
    (SPECS[3], SPECS[1], SPECS[8]),
]


@pytest.mark.parametrize("error", ERRORS)
def test_every_answer_can_be_made(error):
    for guess in GUESSES:
        for made in corrected(guess, error):
            assert len(made) == len(guess)
            assert all(size > 0 for spec in made for size in spec.shape), (guess, made)


@pytest.mark.parametrize(
    ("shape", "error", "wanted"),
    [
        ((2, 8, 16, 16), ERRORS[0], (2, 3, 16, 16)),
        ((2, 8, 16, 8), ERRORS[1], (2, 8, 8, 16, 16)),
        ((2, 512, 16, 16), ERRORS[3], (2, 32, 16, 16)),
        ((2, 8, 16, 16), "spatial dimensions must be divisible by 2**5.", (2, 8, 32, 32)),
        ((2, 5, 8), "sequence length must be a multiple of 4", (2, 8, 8)),
        ((2, 3, 16, 16), ERRORS[19], (2, 3, 21, 21)),
        ((2, 8), "shape '[2, 3, -1]' is invalid for input of size 16", (2, 24)),
        ((2, 8, 16, 16), "shape '[2, 8, 8, 8]' is invalid for input of size 4096", (2, 8, 8, 8)),
        ((2, 3, 16, 16), ERRORS[22], (2, 3, 224, 224)),
    ],
)
def test_an_error_is_answered(shape, error, wanted):
    assert (Spec("float", wanted),) in list(corrected((Spec("float", shape),), error))


def test_one_of_two_images_gets_the_size_of_the_other():
    image, larger = Spec("float", (2, 8, 16, 16)), Spec("float", (2, 8, 32, 32))
    error = "Sizes of tensors must match except in dimension 1. Expected size 32 but got size 16 for tensor number 1"
    assert list(corrected((image, image), error))[:2] == [(image, larger), (larger, image)]


@pytest.mark.parametrize("kind", ["conv2d", "conv3d", "conv1d", "linear", "embedding", ""])
def test_likely_inputs_grow_into_larger_ones(kind):
    for guess in first_guesses(["x", "mask", "t"], kind, 8):
        for made in grown(guess):
            assert any(max(new.shape) > max(old.shape) for new, old in zip(made, guess, strict=True))


def test_a_volume_grows_as_a_whole():
    assert list(grown((Spec("float", (2, 3, 8, 16, 16)),))) == [(Spec("float", (2, 3, 16, 64, 64)),)]
