from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class InfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InfoResponse(_message.Message):
    __slots__ = ("version", "format", "models", "sessions", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    version: str
    format: int
    models: _containers.RepeatedScalarFieldContainer[str]
    sessions: _containers.RepeatedCompositeFieldContainer[SessionInfo]
    limits: _containers.ScalarMap[str, int]
    def __init__(self, version: _Optional[str] = ..., format: _Optional[int] = ..., models: _Optional[_Iterable[str]] = ..., sessions: _Optional[_Iterable[_Union[SessionInfo, _Mapping]]] = ..., limits: _Optional[_Mapping[str, int]] = ...) -> None: ...

class SessionInfo(_message.Message):
    __slots__ = ("name", "step", "checkpoint_step", "resumed_from", "checkpoint_error")
    NAME_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_STEP_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FROM_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_ERROR_FIELD_NUMBER: _ClassVar[int]
    name: str
    step: int
    checkpoint_step: int
    resumed_from: str
    checkpoint_error: str
    def __init__(self, name: _Optional[str] = ..., step: _Optional[int] = ..., checkpoint_step: _Optional[int] = ..., resumed_from: _Optional[str] = ..., checkpoint_error: _Optional[str] = ...) -> None: ...

class OpenRequest(_message.Message):
    __slots__ = ("name", "device", "threads", "check_numerics", "rewrites", "memory_budget", "variables_of")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    CHECK_NUMERICS_FIELD_NUMBER: _ClassVar[int]
    REWRITES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_OF_FIELD_NUMBER: _ClassVar[int]
    name: str
    device: str
    threads: int
    check_numerics: bool
    rewrites: _containers.RepeatedScalarFieldContainer[str]
    memory_budget: int
    variables_of: str
    def __init__(self, name: _Optional[str] = ..., device: _Optional[str] = ..., threads: _Optional[int] = ..., check_numerics: _Optional[bool] = ..., rewrites: _Optional[_Iterable[str]] = ..., memory_budget: _Optional[int] = ..., variables_of: _Optional[str] = ...) -> None: ...

class OpenResponse(_message.Message):
    __slots__ = ("session", "message_bytes")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    session: str
    message_bytes: int
    def __init__(self, session: _Optional[str] = ..., message_bytes: _Optional[int] = ...) -> None: ...

class ShareRequest(_message.Message):
    __slots__ = ("session", "size")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    session: str
    size: int
    def __init__(self, session: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class ShareResponse(_message.Message):
    __slots__ = ("region",)
    REGION_FIELD_NUMBER: _ClassVar[int]
    region: Region
    def __init__(self, region: _Optional[_Union[Region, _Mapping]] = ...) -> None: ...

class Region(_message.Message):
    __slots__ = ("id", "process", "descriptor", "size", "mark")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROCESS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    id: int
    process: int
    descriptor: int
    size: int
    mark: bytes
    def __init__(self, id: _Optional[int] = ..., process: _Optional[int] = ..., descriptor: _Optional[int] = ..., size: _Optional[int] = ..., mark: _Optional[bytes] = ...) -> None: ...

class Tensor(_message.Message):
    __slots__ = ("dtype", "shape", "name", "data", "offset", "follows")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    FOLLOWS_FIELD_NUMBER: _ClassVar[int]
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    name: str
    data: bytes
    offset: int
    follows: bool
    def __init__(self, dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., name: _Optional[str] = ..., data: _Optional[bytes] = ..., offset: _Optional[int] = ..., follows: _Optional[bool] = ...) -> None: ...

class CallRequest(_message.Message):
    __slots__ = ("session", "graph", "tensors", "region", "extend", "fetch", "run", "look", "read", "publish", "state")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    EXTEND_FIELD_NUMBER: _ClassVar[int]
    FETCH_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    LOOK_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    PUBLISH_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    session: str
    graph: bytes
    tensors: _containers.RepeatedCompositeFieldContainer[Tensor]
    region: int
    extend: Extend
    fetch: Fetch
    run: Run
    look: Look
    read: Names
    publish: Publish
    state: State
    def __init__(self, session: _Optional[str] = ..., graph: _Optional[bytes] = ..., tensors: _Optional[_Iterable[_Union[Tensor, _Mapping]]] = ..., region: _Optional[int] = ..., extend: _Optional[_Union[Extend, _Mapping]] = ..., fetch: _Optional[_Union[Fetch, _Mapping]] = ..., run: _Optional[_Union[Run, _Mapping]] = ..., look: _Optional[_Union[Look, _Mapping]] = ..., read: _Optional[_Union[Names, _Mapping]] = ..., publish: _Optional[_Union[Publish, _Mapping]] = ..., state: _Optional[_Union[State, _Mapping]] = ...) -> None: ...

class CallResponse(_message.Message):
    __slots__ = ("tensors", "region", "missing", "text", "memory", "profile", "counters", "count")
    TENSORS_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    tensors: _containers.RepeatedCompositeFieldContainer[Tensor]
    region: Region
    missing: _containers.RepeatedScalarFieldContainer[str]
    text: str
    memory: Memory
    profile: Profile
    counters: Counters
    count: int
    def __init__(self, tensors: _Optional[_Iterable[_Union[Tensor, _Mapping]]] = ..., region: _Optional[_Union[Region, _Mapping]] = ..., missing: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., memory: _Optional[_Union[Memory, _Mapping]] = ..., profile: _Optional[_Union[Profile, _Mapping]] = ..., counters: _Optional[_Union[Counters, _Mapping]] = ..., count: _Optional[int] = ...) -> None: ...

class Extend(_message.Message):
    __slots__ = ("constants",)
    CONSTANTS_FIELD_NUMBER: _ClassVar[int]
    constants: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, constants: _Optional[_Iterable[str]] = ...) -> None: ...

class Fetch(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class Choice(_message.Message):
    __slots__ = ("values", "effects", "fed")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    FED_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[int]
    effects: _containers.RepeatedScalarFieldContainer[int]
    fed: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, values: _Optional[_Iterable[int]] = ..., effects: _Optional[_Iterable[int]] = ..., fed: _Optional[_Iterable[int]] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("choice", "step", "only_checked")
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    ONLY_CHECKED_FIELD_NUMBER: _ClassVar[int]
    choice: Choice
    step: int
    only_checked: bool
    def __init__(self, choice: _Optional[_Union[Choice, _Mapping]] = ..., step: _Optional[int] = ..., only_checked: _Optional[bool] = ...) -> None: ...

class Look(_message.Message):
    __slots__ = ("what", "choice", "has_sizes", "sizes", "repeat", "step")
    class What(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        WHAT_UNSPECIFIED: _ClassVar[Look.What]
        WHAT_PLAN: _ClassVar[Look.What]
        WHAT_MEMORY: _ClassVar[Look.What]
        WHAT_PROFILE: _ClassVar[Look.What]
    WHAT_UNSPECIFIED: Look.What
    WHAT_PLAN: Look.What
    WHAT_MEMORY: Look.What
    WHAT_PROFILE: Look.What
    class SizesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    WHAT_FIELD_NUMBER: _ClassVar[int]
    CHOICE_FIELD_NUMBER: _ClassVar[int]
    HAS_SIZES_FIELD_NUMBER: _ClassVar[int]
    SIZES_FIELD_NUMBER: _ClassVar[int]
    REPEAT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    what: Look.What
    choice: Choice
    has_sizes: bool
    sizes: _containers.ScalarMap[str, int]
    repeat: int
    step: int
    def __init__(self, what: _Optional[_Union[Look.What, str]] = ..., choice: _Optional[_Union[Choice, _Mapping]] = ..., has_sizes: _Optional[bool] = ..., sizes: _Optional[_Mapping[str, int]] = ..., repeat: _Optional[int] = ..., step: _Optional[int] = ...) -> None: ...

class Names(_message.Message):
    __slots__ = ("names",)
    NAMES_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, names: _Optional[_Iterable[str]] = ...) -> None: ...

class Publish(_message.Message):
    __slots__ = ("counters",)
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    counters: Counters
    def __init__(self, counters: _Optional[_Union[Counters, _Mapping]] = ...) -> None: ...

class Counters(_message.Message):
    __slots__ = ("run_number", "step")
    RUN_NUMBER_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    run_number: int
    step: int
    def __init__(self, run_number: _Optional[int] = ..., step: _Optional[int] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ("what",)
    class What(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        WHAT_UNSPECIFIED: _ClassVar[State.What]
        WHAT_INITIALIZE: _ClassVar[State.What]
        WHAT_SNAPSHOT: _ClassVar[State.What]
        WHAT_TRIM: _ClassVar[State.What]
        WHAT_MEMORY_IN_USE: _ClassVar[State.What]
    WHAT_UNSPECIFIED: State.What
    WHAT_INITIALIZE: State.What
    WHAT_SNAPSHOT: State.What
    WHAT_TRIM: State.What
    WHAT_MEMORY_IN_USE: State.What
    WHAT_FIELD_NUMBER: _ClassVar[int]
    what: State.What
    def __init__(self, what: _Optional[_Union[State.What, str]] = ...) -> None: ...

class CallInPiecesRequest(_message.Message):
    __slots__ = ("call", "data")
    CALL_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    call: CallRequest
    data: bytes
    def __init__(self, call: _Optional[_Union[CallRequest, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class CallInPiecesResponse(_message.Message):
    __slots__ = ("answer", "data")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    answer: CallResponse
    data: bytes
    def __init__(self, answer: _Optional[_Union[CallResponse, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class Line(_message.Message):
    __slots__ = ("file", "line", "function")
    FILE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    file: str
    line: int
    function: str
    def __init__(self, file: _Optional[str] = ..., line: _Optional[int] = ..., function: _Optional[str] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("bytes", "largest")
    BYTES_FIELD_NUMBER: _ClassVar[int]
    LARGEST_FIELD_NUMBER: _ClassVar[int]
    bytes: _containers.RepeatedScalarFieldContainer[int]
    largest: _containers.RepeatedCompositeFieldContainer[MemoryUse]
    def __init__(self, bytes: _Optional[_Iterable[int]] = ..., largest: _Optional[_Iterable[_Union[MemoryUse, _Mapping]]] = ...) -> None: ...

class MemoryUse(_message.Message):
    __slots__ = ("bytes", "op", "name", "dtype", "shape", "site")
    BYTES_FIELD_NUMBER: _ClassVar[int]
    OP_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    op: str
    name: str
    dtype: str
    shape: _containers.RepeatedScalarFieldContainer[int]
    site: Line
    def __init__(self, bytes: _Optional[int] = ..., op: _Optional[str] = ..., name: _Optional[str] = ..., dtype: _Optional[str] = ..., shape: _Optional[_Iterable[int]] = ..., site: _Optional[_Union[Line, _Mapping]] = ...) -> None: ...

class Profile(_message.Message):
    __slots__ = ("threads", "seconds", "steps", "events", "limits")
    class LimitsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    THREADS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    threads: int
    seconds: float
    steps: _containers.RepeatedCompositeFieldContainer[ProfiledStep]
    events: _containers.RepeatedCompositeFieldContainer[ProfiledEvent]
    limits: _containers.ScalarMap[str, float]
    def __init__(self, threads: _Optional[int] = ..., seconds: _Optional[float] = ..., steps: _Optional[_Iterable[_Union[ProfiledStep, _Mapping]]] = ..., events: _Optional[_Iterable[_Union[ProfiledEvent, _Mapping]]] = ..., limits: _Optional[_Mapping[str, float]] = ...) -> None: ...

class ProfiledStep(_message.Message):
    __slots__ = ("name", "kind", "device", "algorithm", "nodes", "lines", "reads", "writes", "live_bytes", "work", "number")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    READS_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    LIVE_BYTES_FIELD_NUMBER: _ClassVar[int]
    WORK_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    device: str
    algorithm: str
    nodes: _containers.RepeatedScalarFieldContainer[str]
    lines: _containers.RepeatedScalarFieldContainer[str]
    reads: _containers.RepeatedScalarFieldContainer[str]
    writes: _containers.RepeatedScalarFieldContainer[str]
    live_bytes: int
    work: _containers.RepeatedScalarFieldContainer[float]
    number: int
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., device: _Optional[str] = ..., algorithm: _Optional[str] = ..., nodes: _Optional[_Iterable[str]] = ..., lines: _Optional[_Iterable[str]] = ..., reads: _Optional[_Iterable[str]] = ..., writes: _Optional[_Iterable[str]] = ..., live_bytes: _Optional[int] = ..., work: _Optional[_Iterable[float]] = ..., number: _Optional[int] = ...) -> None: ...

class ProfiledEvent(_message.Message):
    __slots__ = ("step", "start", "stop")
    STEP_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    step: int
    start: float
    stop: float
    def __init__(self, step: _Optional[int] = ..., start: _Optional[float] = ..., stop: _Optional[float] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("kind", "problem", "asked", "expected", "found", "hint", "operands", "site", "forward_site")
    KIND_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    FOUND_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    OPERANDS_FIELD_NUMBER: _ClassVar[int]
    SITE_FIELD_NUMBER: _ClassVar[int]
    FORWARD_SITE_FIELD_NUMBER: _ClassVar[int]
    kind: str
    problem: str
    asked: str
    expected: str
    found: str
    hint: str
    operands: _containers.RepeatedScalarFieldContainer[str]
    site: Line
    forward_site: Line
    def __init__(self, kind: _Optional[str] = ..., problem: _Optional[str] = ..., asked: _Optional[str] = ..., expected: _Optional[str] = ..., found: _Optional[str] = ..., hint: _Optional[str] = ..., operands: _Optional[_Iterable[str]] = ..., site: _Optional[_Union[Line, _Mapping]] = ..., forward_site: _Optional[_Union[Line, _Mapping]] = ...) -> None: ...

class CheckpointRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: str
    def __init__(self, session: _Optional[str] = ...) -> None: ...

class CheckpointResponse(_message.Message):
    __slots__ = ("step", "file")
    STEP_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    step: int
    file: str
    def __init__(self, step: _Optional[int] = ..., file: _Optional[str] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: str
    def __init__(self, session: _Optional[str] = ...) -> None: ...

class CancelResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CloseRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: str
    def __init__(self, session: _Optional[str] = ...) -> None: ...

class CloseResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
