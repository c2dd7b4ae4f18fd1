"""The protocol over gRPC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import grpc

from staticad_schema import inference_pb2 as pb
from staticad_schema.errors import ExecutionError, PlanError, StaticadError
from staticad_schema.tensors import octets_of
from staticad_schema.types import Array

from ..serving.checkpoints import LOG
from ..serving.failures import status
from ..serving.service import Admission
from . import described
from .datatypes import checked_type, from_numbers, from_raw
from .inferring import OFFSET, REGION, SIZE, Answered, Inference, Request, place_of

SERVICE = "inference.GRPCInferenceService"
# The fields of InferTensorContents, by kind and size of the elements.
_CONTENTS = {
    "bool": "bool_contents", "int8": "int_contents", "int16": "int_contents",
    "int32": "int_contents", "int64": "int64_contents", "uint8": "uint_contents",
    "uint16": "uint_contents", "uint32": "uint_contents", "uint64": "uint64_contents",
    "float32": "fp32_contents", "float64": "fp64_contents",
}  # fmt: skip


class InferenceService:
    """The methods, answered in threads of gRPC's."""

    def __init__(self, inference: Inference, admission: Admission) -> None:
        self._inference = inference
        self._admission = admission

    def handlers(self) -> Any:
        """What a gRPC server adds."""
        answers: dict[str, Callable[[Any, Any], Any]] = {
            "ServerLive": lambda request, context: pb.ServerLiveResponse(live=True),
            "ServerReady": lambda request, context: pb.ServerReadyResponse(ready=True),
            "ModelReady": self.model_ready,
            "ServerMetadata": self.server_metadata,
            "ModelMetadata": self.model_metadata,
            "ModelInfer": self.model_infer,
            "ModelStatistics": self.model_statistics,
            "RepositoryIndex": self.repository_index,
            "RepositoryModelLoad": self.repository_model_load,
            "RepositoryModelUnload": self.repository_model_unload,
            "SystemSharedMemoryStatus": self.shared_memory_status,
            "SystemSharedMemoryRegister": self.shared_memory_register,
            "SystemSharedMemoryUnregister": self.shared_memory_unregister,
        }
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                name: grpc.unary_unary_rpc_method_handler(
                    self._guarded(answer),
                    request_deserializer=getattr(pb, f"{name}Request").FromString,
                    response_serializer=getattr(pb, f"{name}Response").SerializeToString,
                )
                for name, answer in answers.items()
            },
        )

    def model_ready(self, request: pb.ModelReadyRequest, context: Any) -> pb.ModelReadyResponse:
        """Whether a model is loaded."""
        ready = self._inference.repository.has(request.name, request.version)
        return pb.ModelReadyResponse(ready=ready)

    def server_metadata(self, request: Any, context: Any) -> pb.ServerMetadataResponse:
        """What this is."""
        return pb.ServerMetadataResponse(**described.server())

    def model_metadata(
        self, request: pb.ModelMetadataRequest, context: Any
    ) -> pb.ModelMetadataResponse:
        """The inputs and outputs of a model."""
        model = self._inference.repository.get(request.name, request.version).model
        return pb.ModelMetadataResponse(**described.model(model))

    def model_infer(self, request: pb.ModelInferRequest, context: Any) -> pb.ModelInferResponse:
        """Outputs for inputs."""
        run = self._inference.run()
        if not context.add_callback(run.cancel.set):
            run.cancel.set()
        asked = Request(request.model_name, request.model_version, request.id)
        asked.inputs = self._inputs(request)
        for output in request.outputs:
            asked.outputs[output.name] = place_of(
                _parameters(output.parameters), f"output {output.name!r}"
            )
        return _response(self._inference.infer(asked, run), request.id)

    def model_statistics(
        self, request: pb.ModelStatisticsRequest, context: Any
    ) -> pb.ModelStatisticsResponse:
        """Counts and times, of one model or all."""
        found = described.statistics(self._inference.repository, request.name, request.version)
        return pb.ModelStatisticsResponse(model_stats=[pb.ModelStatistics(**s) for s in found])

    def repository_index(
        self, request: pb.RepositoryIndexRequest, context: Any
    ) -> pb.RepositoryIndexResponse:
        """All models, loaded or not."""
        found = described.index(self._inference.repository, request.ready)
        return pb.RepositoryIndexResponse(
            models=[pb.RepositoryIndexResponse.ModelIndex(**entry) for entry in found]
        )

    def repository_model_load(
        self, request: pb.RepositoryModelLoadRequest, context: Any
    ) -> pb.RepositoryModelLoadResponse:
        """Load a model."""
        if request.parameters:
            raise PlanError(
                "models are loaded from the server's files only",
                asked="load",
                expected="no parameters",
                found=", ".join(request.parameters)[:200],
            )
        self._inference.repository.load(request.model_name)
        return pb.RepositoryModelLoadResponse()

    def repository_model_unload(
        self, request: pb.RepositoryModelUnloadRequest, context: Any
    ) -> pb.RepositoryModelUnloadResponse:
        """Unload a model."""
        self._inference.repository.unload(request.model_name)
        return pb.RepositoryModelUnloadResponse()

    def shared_memory_status(
        self, request: pb.SystemSharedMemoryStatusRequest, context: Any
    ) -> pb.SystemSharedMemoryStatusResponse:
        """What shared memory is registered."""
        kind = pb.SystemSharedMemoryStatusResponse.RegionStatus
        regions = self._inference.memory.registered(request.name)
        return pb.SystemSharedMemoryStatusResponse(
            regions={region.name: kind(**region._asdict()) for region in regions}
        )

    def shared_memory_register(
        self, request: pb.SystemSharedMemoryRegisterRequest, context: Any
    ) -> pb.SystemSharedMemoryRegisterResponse:
        """Register shared memory."""
        self._inference.memory.register(
            request.name, request.key, request.offset, request.byte_size
        )
        return pb.SystemSharedMemoryRegisterResponse()

    def shared_memory_unregister(
        self, request: pb.SystemSharedMemoryUnregisterRequest, context: Any
    ) -> pb.SystemSharedMemoryUnregisterResponse:
        """Forget shared memory."""
        self._inference.memory.unregister(request.name)
        return pb.SystemSharedMemoryUnregisterResponse()

    def _inputs(self, request: pb.ModelInferRequest) -> dict[str, Array]:
        found: dict[str, Array] = {}
        types = [checked_type(i.name, i.datatype, list(i.shape)) for i in request.inputs]
        self._inference.check_size(types)
        raw = iter(request.raw_input_contents)
        for tensor, (dtype, shape) in zip(request.inputs, types, strict=True):
            what = f"input {tensor.name!r}"
            place = place_of(_parameters(tensor.parameters), what)
            if tensor.name in found:
                raise PlanError("an input is given twice", asked=what, expected="one")
            if place is not None:
                found[tensor.name] = self._inference.shared_input(tensor.name, place, dtype, shape)
            elif request.raw_input_contents:
                data = next(raw, None)
                if data is None:
                    raise PlanError(
                        "raw contents of an input are missing",
                        asked=what,
                        expected="one for each input that is not in shared memory",
                        found=str(len(request.raw_input_contents)),
                    )
                found[tensor.name] = from_raw(tensor.name, data, dtype, shape)
            else:
                name = _CONTENTS.get(dtype.name)
                if name is None:
                    raise PlanError(
                        f"{tensor.datatype} travels only as raw contents",
                        asked=what,
                        expected="raw_input_contents",
                    )
                numbers = list(getattr(tensor.contents, name))
                found[tensor.name] = from_numbers(tensor.name, numbers, dtype, shape)
        if next(raw, None) is not None:
            raise PlanError(
                "there are more raw contents than inputs",
                asked="infer",
                expected="one for each input that is not in shared memory",
                found=str(len(request.raw_input_contents)),
            )
        return found

    def _guarded(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        @wraps(answer)
        def guarded(request: Any, context: Any) -> Any:
            try:
                self._admission.admit(context.invocation_metadata)
                return answer(request, context)
            except StaticadError as error:
                context.abort(status(error), str(error)[:4000])
            except Exception as error:
                LOG.exception("a request has failed")
                failed = ExecutionError(f"{type(error).__name__}: {error}"[:2000])
                context.abort(status(failed), failed.problem)

        return guarded


def _parameters(given: Mapping[str, pb.InferParameter]) -> dict[str, object]:
    return {
        name: getattr(value, value.WhichOneof("parameter_choice") or "bool_param")
        for name, value in given.items()
    }


def _response(answered: Answered, id: str) -> pb.ModelInferResponse:
    response = pb.ModelInferResponse(
        model_name=answered.model.name, model_version=answered.version, id=id
    )
    for name, array in answered.outputs.items():
        place = answered.places.get(name)
        made = response.outputs.add(
            name=name, datatype=answered.model.outputs[name].datatype, shape=array.shape
        )
        if place is None:
            response.raw_output_contents.append(octets_of(array).tobytes())
        else:
            made.parameters[REGION].string_param = place.region
            made.parameters[OFFSET].int64_param = place.offset
            made.parameters[SIZE].int64_param = array.nbytes
    return response
