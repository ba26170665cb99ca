"""A gRPC server with reflection for tests: no generated code, descriptors written as text."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import grpc
from google.protobuf import json_format, text_format, timestamp_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection

TEXT = """
name: "zoo.proto" package: "zoo" syntax: "proto3" dependency: "google/protobuf/timestamp.proto"
enum_type { name: "Kind" value { name: "KIND_UNKNOWN" number: 0 } value { name: "CAT" number: 1 } }
message_type {
  name: "Pet"
  field { name: "id" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL json_name: "id" }
  field { name: "pet_name" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "petName" }
  field { name: "kind" number: 3 type: TYPE_ENUM type_name: ".zoo.Kind" label: LABEL_OPTIONAL json_name: "kind" }
  field { name: "born" number: 4 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL json_name: "born" }
  field { name: "parent" number: 5 type: TYPE_MESSAGE type_name: ".zoo.Pet" label: LABEL_OPTIONAL json_name: "parent" }
  field { name: "tags" number: 6 type: TYPE_MESSAGE type_name: ".zoo.Pet.TagsEntry" label: LABEL_REPEATED json_name: "tags" }
  field { name: "photo" number: 7 type: TYPE_BYTES label: LABEL_OPTIONAL json_name: "photo" }
  nested_type {
    name: "TagsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "key" }
    field { name: "value" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL json_name: "value" }
  }
}
message_type { name: "PetId" field { name: "id" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL json_name: "id" } }
message_type {
  name: "ListRequest"
  field { name: "page_size" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL json_name: "pageSize" }
  field { name: "page_token" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "pageToken" }
}
message_type {
  name: "ListReply"
  field { name: "pets" number: 1 type: TYPE_MESSAGE type_name: ".zoo.Pet" label: LABEL_REPEATED json_name: "pets" }
  field { name: "next_page_token" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL json_name: "nextPageToken" }
}
service {
  name: "Zoo"
  method { name: "GetPet" input_type: ".zoo.PetId" output_type: ".zoo.Pet" }
  method { name: "ListPets" input_type: ".zoo.ListRequest" output_type: ".zoo.ListReply" }
  method { name: "CreatePet" input_type: ".zoo.Pet" output_type: ".zoo.Pet" }
  method { name: "DeletePet" input_type: ".zoo.PetId" output_type: ".zoo.PetId" }
  method { name: "Feed" input_type: ".zoo.PetId" output_type: ".zoo.PetId" options { idempotency_level: NO_SIDE_EFFECTS } }
  method { name: "WatchPets" input_type: ".zoo.ListRequest" output_type: ".zoo.Pet" server_streaming: true }
  method { name: "Upload" input_type: ".zoo.Pet" output_type: ".zoo.Pet" client_streaming: true }
}
"""
ZOO = text_format.Parse(TEXT, FileDescriptorProto())
POOL = DescriptorPool()
POOL.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
POOL.AddSerializedFile(ZOO.SerializeToString())
SET = FileDescriptorSet(file=[ZOO]).SerializeToString()
"""As protoc writes it without --include_imports; what everybody has is left out."""


class Zoo:
    """Answers calls, and remembers what it heard."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.sent = 0
        self.came, self.left, self.let_go = Event(), Event(), Event()

    def answer(self, method: str, asked: dict[str, Any], context: grpc.ServicerContext) -> Any:
        self.heard.append((method, asked, dict(context.invocation_metadata())))
        match method:
            case "GetPet" if asked.get("id") == "404":
                context.abort(grpc.StatusCode.NOT_FOUND, "No <b>such</b> pet.")
            case "GetPet" if asked.get("id") == "503":
                context.add_callback(self.left.set)
                self.came.set()
                self.let_go.wait(30)
            case "GetPet":
                return {"id": asked.get("id", "0"), "petName": "Tom", "kind": "CAT"}
            case "ListPets":
                start = int(asked.get("pageToken") or 0)
                following = str(start + 2) if start < 4 else ""
                return {"pets": [{"id": str(start)}], "nextPageToken": following}
        return asked

    def stream(self) -> Iterator[dict[str, Any]]:
        while True:
            self.sent += 1
            yield {"id": str(self.sent)}


def _written(name: str, value: dict[str, Any]) -> bytes:
    message = GetMessageClass(POOL.FindMessageTypeByName(name))()
    json_format.ParseDict(value, message, descriptor_pool=POOL)
    content: bytes = message.SerializeToString()
    return content


def _read(name: str, content: bytes) -> dict[str, Any]:
    message = GetMessageClass(POOL.FindMessageTypeByName(name)).FromString(content)
    found: dict[str, Any] = json_format.MessageToDict(message, descriptor_pool=POOL)
    return found


def _handler(zoo: Zoo, method: Any) -> grpc.RpcMethodHandler:
    asked, given = method.input_type.full_name, method.output_type.full_name

    def unary(request: bytes, context: grpc.ServicerContext) -> bytes:
        return _written(given, zoo.answer(method.name, _read(asked, request), context))

    def stream(request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        zoo.answer(method.name, _read(asked, request), context)
        for each in zoo.stream():
            if not context.is_active():
                return
            yield _written(given, each)

    if method.server_streaming:
        return grpc.unary_stream_rpc_method_handler(stream)
    return grpc.unary_unary_rpc_method_handler(unary)


@contextmanager
def zoo_server(
    *, reflects: bool = True, credentials: grpc.ServerCredentials | None = None
) -> Iterator[tuple[Zoo, int]]:
    zoo = Zoo()
    service = POOL.FindServiceByName("zoo.Zoo")
    server = grpc.server(ThreadPoolExecutor(4))
    handlers = {
        each.name: _handler(zoo, each) for each in service.methods if not each.client_streaming
    }
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(service.full_name, handlers),)
    )
    if reflects:
        names = (service.full_name, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server, pool=POOL)
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield zoo, port
    finally:
        zoo.let_go.set()
        server.stop(None).wait()
