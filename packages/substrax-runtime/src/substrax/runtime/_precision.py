"""The names of matrix product precisions, as a type and as a value; apart from the table because it needs `typing`."""

from typing import Literal, get_args

__all__ = ["MATMUL_PRECISIONS", "MatmulPrecision"]

MatmulPrecision = Literal[
    "default",
    "high",
    "highest",
    "bfloat16",
    "tensorfloat32",
    "float32",
    "ANY_F8_ANY_F8_F32",
    "ANY_F8_ANY_F8_F32_FAST_ACCUM",
    "ANY_F8_ANY_F8_ANY",
    "ANY_F8_ANY_F8_ANY_FAST_ACCUM",
    "F16_F16_F16",
    "F16_F16_F32",
    "BF16_BF16_BF16",
    "BF16_BF16_F32",
    "BF16_BF16_F32_X3",
    "BF16_BF16_F32_X6",
    "BF16_BF16_F32_X9",
    "TF32_TF32_F32",
    "TF32_TF32_F32_X3",
    "F32_F32_F32",
    "F64_F64_F64",
]
"""A precision that jax 0.5.3 to 0.12.0.1 takes, exactly so spelled.

`bfloat16` is `default`, `tensorfloat32` is `high` and `float32` is `highest`; a name in capitals is an algorithm of
`jax.lax.DotAlgorithmPreset`, which says nothing of convolutions, and most of which the CPU refuses at the first matrix
product.

Source:
    jax `jax/_src/config.py`, option `jax_default_matmul_precision`, read in 0.5.3 and 0.12.0.1.
"""

MATMUL_PRECISIONS: tuple[str, ...] = get_args(MatmulPrecision)
