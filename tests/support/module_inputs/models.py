"""Inputs of other parts of models: recurrent layers, attention, activations, losses, distances."""

from __future__ import annotations

from module_inputs import activations, attention, losses, recurrent

GIVEN = activations.GIVEN + losses.GIVEN + recurrent.GIVEN + attention.GIVEN

# Inputs that both reject with the same message.
REFUSED = activations.REFUSED + losses.REFUSED + recurrent.REFUSED + attention.REFUSED
