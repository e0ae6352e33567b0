"""Inputs of other parts of models: recurrent layers, attention, activations, losses, distances."""

from __future__ import annotations

from module_inputs import activations, attention, losses, recurrent

SAMPLES = activations.SAMPLES + losses.SAMPLES + recurrent.SAMPLES + attention.SAMPLES

# Inputs that both reject with the same message.
REJECTED = activations.REJECTED + losses.REJECTED + recurrent.REJECTED + attention.REJECTED
