"""``/openapi.json`` is true: schemathesis holds every route to it, and every field that is told is described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from pydantic import BaseModel
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from fonte.access.identity import Action
from fonte.access.keys import mint
from fonte.http import schemas_answers as out_answers
from fonte.http import schemas_index as out_index
from fonte.http import schemas_out as out
from fonte.http.served import Limits
from fonte.types import Principal
from served import House, make_house

RUNS_IT = Principal("default", "eva", frozenset({"hr", "public"}))
WIDE = Limits(requests_per_minute=10**9, failures_per_minute=10**9)
EXAMPLES = 8
"""Of each route and mode; ``make test`` has a minute for all."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ignored_auth,
    unsupported_method,
    allow_header_conformance,
]
ACCEPTED = {
    "GET /healthz",
    "GET /v1/audit",
    "GET /v1/documents",
    "GET /v1/generations",
    "GET /v1/models",
    "GET /v1/status",
    "POST /v1/search",
}
"""Where whatever has the described form is taken. Elsewhere names have to exist, and questions have to ask."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = make_house(tmp_path_factory.mktemp("described") / "home", limits=WIDE)
    yield made
    made.served.corpus.close()


def faults_of(operation: Any, mode: GenerationMode, headers: dict[str, str]) -> list[str]:
    """What is not as it is described, of one route, asked rightly or wrongly."""
    checks = [*CHECKS, positive_data_acceptance] if operation.label in ACCEPTED else CHECKS

    @seed(20261130)
    @settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck), print_blob=False)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    try:
        ask()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # a route that takes nothing cannot be given the wrong thing
    except FailureGroup as error:
        return [f"{operation.label} {mode.value}: {one}"[:1500] for one in error.exceptions]
    return []


def test_every_route_does_what_is_described(place: House) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", place.app)
    # What no route names is passed over by all of them, and the key is ours.
    schema.config.generation.update(allow_extra_parameters=False, with_security_parameters=False)
    headers = {"Authorization": f"Bearer {mint(place.served.keys, RUNS_IT, list(Action), now=place.served.now()).text}"}
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 20
    faults = [one for operation in operations for mode in GenerationMode for one in faults_of(operation, mode, headers)]
    assert not faults, "\n\n".join(faults)


def undescribed(model: type[BaseModel], told: Any) -> set[str]:
    """Fields of JSON that its model does not name."""
    closed = _closed(model)
    return {".".join(str(part) for part in one["loc"]) for one in closed(told)}


def _closed(model: type[BaseModel]) -> Any:
    def faults(told: Any) -> list[Any]:
        found = []
        names = {field.alias or name: field for name, field in model.model_fields.items()}
        for name, value in told.items():
            if name not in names:
                found.append({"loc": (model.__name__, name)})
                continue
            inner = _model_in(names[name].annotation)
            for one in value if isinstance(value, list) else [value]:
                if inner is not None and isinstance(one, dict):
                    found += _closed(inner)(one)
        return found

    return faults


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = [_model_in(one) for one in getattr(annotation, "__args__", ())]
    return next((one for one in inner if one is not None), None)


def test_every_field_that_is_told_is_described(place: House) -> None:
    client = place.client(RUNS_IT, *Action)
    asked = {"question": "At how many bar does the pump run?", "conversation_id": "new"}
    answer = client.post("/v1/ask", json=asked).json()
    document = answer["citations"][0]["document_id"]
    abstained = place.client(Principal("empty")).post("/v1/ask", json={"question": "x?"}).json()
    chat = {"model": "fonte", "messages": [{"role": "user", "content": asked["question"]}]}
    told = [
        (out_answers.AnswerTold, answer),
        (out_answers.AnswerTold, abstained),
        (out_answers.Found, client.post("/v1/search", json={"query": "pump"}).json()),
        (out_answers.WhyTold, client.post("/v1/why", json={"question": "x?", "expect": "seven bar"}).json()),
        (out_answers.KeptAnswer, client.get(f"/v1/answers/{answer['answer_id']}").json()),
        (out_answers.ConversationTold, client.get(f"/v1/conversations/{answer['conversation_id']}").json()),
        (out_index.Documents, client.get("/v1/documents").json()),
        (out_index.DocumentTold, client.get(f"/v1/documents/{document}").json()),
        (out_index.TextTold, client.get(f"/v1/documents/{document}/text").json()),
        (out_index.StatusTold, client.get("/v1/status").json()),
        (out_index.Generations, client.get("/v1/generations").json()),
        (out.Entries, client.get("/v1/audit").json()),
        (out.Models, client.get("/v1/models").json()),
        (out.Completion, client.post("/v1/chat/completions", json=chat).json()),
    ]
    for model, one in told:
        model.model_validate(one, strict=False)
        assert undescribed(model, one) == set()
