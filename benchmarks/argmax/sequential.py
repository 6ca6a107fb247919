"""The network as a torch model, which is what the embedding libraries take."""

import torch
from cells import Case


def sequential(case: Case) -> torch.nn.Sequential:
    """Return the network of action and state, without the linear part."""
    layers: list[torch.nn.Module] = []
    for weight, bias in zip(case.weights, case.biases, strict=True):
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(weight))
            linear.bias.copy_(torch.tensor(bias))
        layers += [linear, torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])
