# SPDX-License-Identifier: MIT
"""Mutation of the model: see tools/mutation.py."""
