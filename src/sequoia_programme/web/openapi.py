"""The description of the programming interface (OpenAPI 3.1), made of its operations."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from sequoia.version import __version__
from sequoia_programme.tokens import SCOPES
from sequoia_programme.web.operations import Operation
from sequoia_programme.web.shapes import Problem

_REF = "#/components/schemas/{model}"


def description(base: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the description of all operations below a path."""
    used: list[type[BaseModel]] = [Problem]
    for one in operations:
        used += [one.answer, one.query, *([one.body] if one.body else [])]
    named, schemas = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(used)], ref_template=_REF
    )
    names = {str(model): str(schema["$ref"]) for (model, _), schema in named.items()}
    paths: dict[str, Any] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sequoia",
            "version": __version__,
            "description": "All that the planner's page does. Tokens: sequoia programme token.",
        },
        "servers": [{"url": base}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": f"Of the scopes {', '.join(SCOPES)}.",
                }
            },
        },
    }


def _operation(one: Operation, names: dict[str, str]) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": names[str(one.answer)]}}}
    problem = {"application/problem+json": {"schema": {"$ref": names[str(Problem)]}}}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "format": name}}
        for name in re.findall(r"{(\w+)}", one.path)
    ]
    schema = one.query.model_json_schema(ref_template=_REF)
    for name, of in schema.get("properties", {}).items():
        needed = name in schema.get("required", ())
        parameters.append({"name": name, "in": "query", "required": needed, "schema": of})
    if one.method != "GET":
        of = {"type": "string", "maxLength": 100}
        words = "Whoever sends a request again sends the same key: it is done once."
        parameters.append(
            {"name": "Idempotency-Key", "in": "header", "schema": of, "description": words}
        )
    made: dict[str, Any] = {
        "operationId": one.run.__name__,
        "summary": (one.run.__doc__ or "").strip().split("\n")[0],
        "security": [{"token": [one.scope]}],
        "parameters": parameters,
        "responses": {
            "200": {"description": "Done.", "content": content},
            "default": {"description": "Not done.", "content": problem},
        },
    }
    if one.body is not None:
        body = {"application/json": {"schema": {"$ref": names[str(one.body)]}}}
        made["requestBody"] = {"required": True, "content": body}
    return made
