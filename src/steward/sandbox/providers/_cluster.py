"""Reaches a Kubernetes cluster by way of its official package, which only this file knows."""

import json
from typing import Any

from steward.core import Misconfigured, NotFound, StewardError, Unavailable

Document = dict[str, Any]


class OfficialClient:
    """A cluster by way of the `kubernetes` package; `api` is one of its `ApiClient` objects."""

    def __init__(self, api: Any, namespace: str) -> None:
        from kubernetes import client

        self._namespace = namespace
        self._batch = client.BatchV1Api(api)
        self._core = client.CoreV1Api(api)
        self._network = client.NetworkingV1Api(api)

    def policy(self, name: str) -> Document:
        return self._document(self._network.read_namespaced_network_policy, name, self._namespace)

    def create_job(self, body: Document) -> Document:
        return self._document(self._batch.create_namespaced_job, self._namespace, body)

    def create_secret(self, body: Document) -> None:
        self._ask(self._core.create_namespaced_secret, self._namespace, body)

    def job(self, name: str) -> Document:
        return self._document(self._batch.read_namespaced_job, name, self._namespace)

    def pods(self, selector: str) -> list[Document]:
        listed = self._document(
            self._core.list_namespaced_pod, self._namespace, label_selector=selector
        )
        return list(listed.get("items") or [])

    def log(self, pod: str, most: int) -> bytes:
        return self._ask(self._core.read_namespaced_pod_log, pod, self._namespace, limit_bytes=most)

    def delete_job(self, name: str) -> None:
        self._ask(
            self._batch.delete_namespaced_job,
            name,
            self._namespace,
            propagation_policy="Background",
            grace_period_seconds=0,
        )

    def _document(self, call: Any, *arguments: Any, **options: Any) -> Document:
        found: Document = json.loads(self._ask(call, *arguments, **options))
        return found

    def _ask(self, call: Any, *arguments: Any, **options: Any) -> bytes:
        from kubernetes.client import ApiException
        from urllib3.exceptions import HTTPError

        try:
            # The bytes as they came: the package's own models refuse what newer clusters add.
            answer = call(*arguments, **options, _preload_content=False, _request_timeout=30)
        except ApiException as problem:
            raise _translated(problem.status, str(problem.reason)) from None
        except HTTPError as problem:
            raise Unavailable(f"The cluster does not answer: {problem}") from None
        content: bytes = answer.data
        return content


def _translated(status: int | None, reason: str) -> StewardError:
    if status == 404:
        return NotFound("The cluster knows no such object; is the namespace there?")
    if status in {401, 403}:
        return Misconfigured(
            f"The cluster refuses Steward's account ({status} {reason}): it needs the role that "
            "deploy/sandbox/kubernetes.yaml gives it."
        )
    if status in {400, 422}:
        return Misconfigured(f"The cluster does not accept the request ({status} {reason}).")
    return Unavailable(f"The cluster answered {status} {reason}.")


def reach(namespace: str) -> OfficialClient:
    """The cluster that Steward itself runs in, or the one of the user's configuration file."""
    try:
        from kubernetes import client, config
    except ModuleNotFoundError:
        raise Misconfigured(
            "The kubernetes provider needs Steward's 'kubernetes' extra; install it first."
        ) from None
    try:
        config.load_incluster_config()  # type: ignore[no-untyped-call]
    except config.ConfigException:
        try:
            config.load_kube_config()  # type: ignore[no-untyped-call]
        except config.ConfigException as problem:
            raise Misconfigured(f"No Kubernetes cluster is configured: {problem}") from None
    return OfficialClient(client.ApiClient(), namespace)
