"""A small domain of RDDL, and what pyRDDLGym says of actions and steps."""

import numpy as np

DOMAIN = """
domain garden {
    types {
        bed : object;
        weather : {@dry, @wet};
    };
    pvariables {
        NEXT(bed, bed) : { non-fluent, bool, default = false };
        HOSE : { non-fluent, int, default = 2 };
        grown(bed) : { state-fluent, bool, default = false };
        weeds(bed) : { state-fluent, bool, default = false };
        sky : { state-fluent, weather, default = @dry };
        shaded(bed) : { interm-fluent, bool };
        water(bed) : { action-fluent, bool, default = false };
        rest : { action-fluent, bool, default = false };
    };
    cpfs {
        shaded(?b) = exists_{?c : bed} [NEXT(?c, ?b) ^ grown(?c)];
        grown'(?b) = if (weeds(?b)) then Bernoulli(0.1)
            else if (water(?b) | sky == @wet) then Bernoulli(0.9 - 0.3 * shaded(?b))
            else KronDelta(grown(?b));
        weeds'(?b) = if (rest) then Bernoulli(0.2) else weeds(?b) ^ ~water(?b);
        sky' = Discrete(weather, @dry : 0.7, @wet : 0.3);
    };
    reward = (sum_{?b : bed} [grown(?b)]) - 0.5 * (sum_{?b : bed} [water(?b)]);
    %s
}
"""
RULES = """
    action-preconditions {
        (sum_{?b : bed} [water(?b)]) <= HOSE - (sky == @wet);
        forall_{?b : bed} [water(?b) => (weeds(?b) | ~grown(?b))];
        rest => ((sum_{?b : bed} [water(?b)]) == 0);
        (forall_{?b : bed} [grown(?b)]) => rest;
    };
"""
INSTANCE = """
non-fluents nf_garden {
    domain = garden;
    objects { bed : {b1, b2, b3}; };
    non-fluents { NEXT(b1, b2); NEXT(b2, b3); };
}
instance garden_1 {
    domain = garden;
    non-fluents = nf_garden;
    init-state { grown(b1); };
    max-nondef-actions = pos-inf;
    horizon = 6;
    discount = 1.0;
}
"""


def write(folder, domain=DOMAIN, rules=RULES, instance=INSTANCE):
    files = folder / "domain.rddl", folder / "instance.rddl"
    files[0].write_text(domain % rules if "%s" in domain else domain)
    files[1].write_text(instance)
    return files


class Judge:
    """pyRDDLGym's own simulator, put into states of ours."""

    def __init__(self, environment):
        from pyRDDLGym.core.simulator import RDDLSimulator

        self._environment = environment
        self.simulator = RDDLSimulator(environment.model.lifted, rng=np.random.default_rng(0))
        self.simulator.reset()

    def put(self, state):
        for name, value in self._environment.layout.fluents(state[None]).items():
            self.simulator.subs[name] = value[0]

    def _actions(self, action):
        return self.simulator.prepare_actions_for_sim(self._environment.ground(action))

    def allows(self, state, action):
        from pyRDDLGym.core.debug.exception import RDDLInvalidActionError

        self.put(state)
        actions = self._actions(action)
        try:
            self.simulator.check_default_action_count(actions)
        except RDDLInvalidActionError:
            return False
        return self.simulator.check_action_preconditions(actions, silent=True)

    def step(self, state, action):
        self.put(state)
        _, reward, _ = self.simulator.step(self._actions(action))
        return reward, self._row()

    def _row(self):
        values = self.simulator.subs
        known = {name: np.asarray(values[name])[None] for name in self._environment.layout.states}
        return self._environment.layout.rows(known)[0]
