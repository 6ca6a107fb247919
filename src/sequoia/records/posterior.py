"""Draws from the posterior of transitions: groups that differ, and what they have in common.

The model, for group g, dose a and state s:

- ``m_{a,s}``: what is common to groups, shrunk towards what is common to doses (or a multinomial
  logit in the features of the group);
- ``q_{g,a,s}``: what moves over the same distances from every state would be for this group;
- ``P_{g,a,s} ~ Dirichlet(kappa_{a,s} m_{a,s} + lambda_a q_{g,a,s})``: a group's own row;
- states follow P, and some of them are seen.

Where moves are known to be the same from every state, one row takes the place of those of all
states, and there is no ``q``.
"""

import numpy as np

from sequoia.records.base_measure import LogitRows, PooledRows, SteadyRows
from sequoia.records.moves import Moves, moves_by
from sequoia.records.segments import Segments
from sequoia.records.shrinkage import BaseMeasure, ShrunkRows, dirichlet, normal
from sequoia.records.structure import Structure, is_rising, make_rising
from sequoia.validation import FloatArray

# Redrawn so often until larger doses do not hurt; after that, the nearest such rows are taken.
_REDRAWS = 30


class Posterior:
    """A Gibbs sampler: unseen states, worth of the guesses, guesses, rows of groups.

    Given P, unseen states are drawn by forward filtering and backward sampling (Scott 2002). Given
    their transitions, everything else is that of a hierarchical Dirichlet model (Teh et al. 2006).

    Parameters
    ----------
    features
        Of each group, standardised, ``(G, F)``, if there are any.
    """

    def __init__(
        self,
        segments: Segments,
        structure: Structure,
        features: FloatArray | None,
        rng: np.random.Generator,
    ) -> None:
        groups, doses, states = segments.shape
        self.segments = segments
        self.moves: Moves = moves_by(structure, doses, states)
        allowed = self.moves.allowed
        by_state = not structure.same_moves
        bases: list[BaseMeasure] = [
            PooledRows(allowed, by_state) if features is None else LogitRows(allowed, features)
        ]
        if by_state:
            bases.append(SteadyRows(allowed, groups))
        self.shrunk = ShrunkRows(allowed[None], bases, groups)
        self._never_hurts, self._rng = structure.never_hurts, rng

    @property
    def kernels(self) -> FloatArray:
        """The transitions that were drawn last, ``(G, L, S, S)``."""
        return self.moves.kernels(self.shrunk.rows)

    def begin(self, rows: FloatArray) -> None:
        """Begin at these rows, ``(G, L, R, V)``."""
        self.shrunk.rows = normal(rows, self.moves.allowed)

    def sweep(self) -> FloatArray:
        """Draw everything once; return the transitions that were counted, ``(G, L, S, S)``."""
        met = self.segments.sample_counts(self.kernels, self._rng).astype(np.float64)
        counts = self.moves.fold(met, self.shrunk.rows, self._rng)
        if self._never_hurts:
            self.shrunk.draw_guesses(counts, self._rng)
            self.shrunk.rows = self._draw_rising(counts + self.shrunk.prior)
        else:
            self.shrunk.draw(counts, self._rng)
        return met

    def _draw_rising(self, alpha: FloatArray) -> FloatArray:
        """Draw rows under which larger doses never hurt."""
        allowed = self.moves.allowed
        rows = dirichlet(alpha, allowed, self._rng)
        for _ in range(_REDRAWS):
            wrong = np.argwhere(~is_rising(rows))
            if not len(wrong):
                return rows
            group, row = wrong.T
            again = dirichlet(alpha[group, :, row], allowed[:, row].swapaxes(0, 1), self._rng)
            rows[group, :, row] = again
        return make_rising(rows, alpha.sum(axis=-1))
