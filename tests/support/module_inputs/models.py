"""Of what models are made of besides: recurrent layers, attention, activations, losses, distances."""

from __future__ import annotations

from module_inputs import activations, attention, losses, recurrent

GIVEN = activations.GIVEN + losses.GIVEN + recurrent.GIVEN + attention.GIVEN

# What both refuse, with the same words.
REFUSED = activations.REFUSED + losses.REFUSED + recurrent.REFUSED + attention.REFUSED
