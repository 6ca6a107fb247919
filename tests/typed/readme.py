import sequoia
from sequoia import Arms, Assignment, Problem

people = ["Ada", "Ben", "Cleo", "Dev", "Elif", "Femi"]
arms = Arms.ladder(rewards=[[0, 1, 5]] * 6, up=[[0.1, 0.8]] * 6, names=people)  # by dose: 0, 1
space = Assignment([2, 3, 2, 4, 3, 2], capacities=[5, 4], worker_names=["Olga", "Paul"])
problem = Problem("six patients", arms, space, start=[[1, 0, 0]] * 6)
print(sequoia.evaluate(problem, ["random", "myopic", "price"], episodes=50))
print(sequoia.bound(problem))
today = {"Ada": 0, "Ben": 0, "Cleo": 1, "Dev": 1, "Elif": 2, "Femi": 2}
for task in sequoia.plan(problem, today).tasks:
    print(f"{task.who}: {task.do} {task.where}")
