import sequoia
from sequoia import Arms, Assignment, Problem

arms = Arms.ladder(rewards=[[0, 1, 5]] * 6, up=[[0.1, 0.8]] * 6)  # 0.1 left alone, 0.8 visited
space = Assignment(costs=[2, 3, 2, 4, 3, 2], capacities=[5, 4])  # two nurses
problem = Problem("six patients", arms, space, start=[[1, 0, 0]] * 6)
found = sequoia.evaluate(problem, ["random", "myopic", "price"], episodes=50)
print(f"{found.mean('random').mean:.2f} at random, {found.mean('price').mean:.2f} by prices,")
print(f"and no policy earns more than {sequoia.bound(problem).per_step:.2f} per step")
for task in sequoia.plan(problem, state=[0, 0, 1, 1, 2, 2]).tasks:
    print(f"{task.who}: {task.do} {task.where}")
