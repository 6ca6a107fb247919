"""Who depends on whom in an instance of RDDL."""

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.interop.rddl.compiler import Compiler, scope_of
from sequoia.interop.rddl.layout import Layout
from sequoia.interop.rddl.reading import RddlModel
from sequoia.interop.rddl.support import Support, Supports
from sequoia.problem import Dependencies
from sequoia.validation import IntArray

# Types of up to so many objects are seen object by object.
_FEW_OBJECTS = 32


def find_dependencies(
    model: RddlModel, layout: Layout, compiler: Compiler, kept: IntArray
) -> Dependencies | None:
    """Return which components depend on which components and action columns.

    ``None`` where a column reaches no component: then it says too little to learn by.

    Parameters
    ----------
    kept
        Numbers of the ground actions that are columns, ``(N,)``.
    """
    lifted = model.lifted
    size = sum(layout.size(name) for name in layout.states)
    known = _leaves(layout, size)
    finder = Supports(model, compiler, known, size + layout.n_actions)
    for name in model.order:
        parameters, expression = lifted.cpfs[name]
        shape = layout.shape(name)
        known[name] = Support(shape, finder.of(expression, scope_of(parameters)).spread(shape))
    rows = [known[lifted.next_state[name]].rows for name in layout.states]
    matrix = csr_array(sparse.vstack(rows, format="csr"))
    among = matrix[:, :size].tolil()
    among.setdiag(0)
    reached = csr_array(matrix[:, size:][:, kept])
    if (reached.sum(axis=0) == 0).any():
        return None
    kinds = np.repeat(np.arange(len(layout.states)), [layout.size(n) for n in layout.states])
    acts = np.repeat(np.arange(len(layout.actions)), [layout.size(n) for n in layout.actions])
    features = layout.fixed_features(_FEW_OBJECTS)
    return Dependencies(csr_array(among), reached, kinds, acts[kept], features)


def _leaves(layout: Layout, size: int) -> dict[str, Support]:
    """Return the supports of states and actions: each depends on itself."""
    every = csr_array(sparse.eye_array(size + layout.n_actions, dtype=np.int8))
    firsts = {
        name: part.start for name, (part, _) in zip(layout.states, layout.ranges, strict=True)
    }
    firsts |= {name: size + first for name, first in layout.columns.items()}
    return {
        name: Support(layout.shape(name), every[first : first + layout.size(name)])
        for name, first in firsts.items()
    }
