"""FastAPI can report requests to a collector. Ours never does, whatever the environment says."""

import pytest
from fastapi.testclient import TestClient

from holdfast.api.app import create
from holdfast.hub.store.store import Store


@pytest.mark.requirement("X5")
def test_no_collector_is_asked_for_by_the_environment(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, store: Store
) -> None:
    """FastAPI warns where it shall report and its exporters are not installed."""
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with TestClient(create(store)) as client:
        assert client.get("/openapi.json").status_code == 200
    assert "telemetry" not in caplog.text
