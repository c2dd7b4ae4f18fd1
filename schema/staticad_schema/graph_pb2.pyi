from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ElementType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ELEMENT_TYPE_UNSPECIFIED: _ClassVar[ElementType]
    ELEMENT_TYPE_BOOL: _ClassVar[ElementType]
    ELEMENT_TYPE_INT8: _ClassVar[ElementType]
    ELEMENT_TYPE_INT16: _ClassVar[ElementType]
    ELEMENT_TYPE_INT32: _ClassVar[ElementType]
    ELEMENT_TYPE_INT64: _ClassVar[ElementType]
    ELEMENT_TYPE_UINT8: _ClassVar[ElementType]
    ELEMENT_TYPE_UINT16: _ClassVar[ElementType]
    ELEMENT_TYPE_UINT32: _ClassVar[ElementType]
    ELEMENT_TYPE_UINT64: _ClassVar[ElementType]
    ELEMENT_TYPE_FLOAT16: _ClassVar[ElementType]
    ELEMENT_TYPE_BFLOAT16: _ClassVar[ElementType]
    ELEMENT_TYPE_FLOAT32: _ClassVar[ElementType]
    ELEMENT_TYPE_FLOAT64: _ClassVar[ElementType]
    ELEMENT_TYPE_COMPLEX64: _ClassVar[ElementType]
    ELEMENT_TYPE_COMPLEX128: _ClassVar[ElementType]
ELEMENT_TYPE_UNSPECIFIED: ElementType
ELEMENT_TYPE_BOOL: ElementType
ELEMENT_TYPE_INT8: ElementType
ELEMENT_TYPE_INT16: ElementType
ELEMENT_TYPE_INT32: ElementType
ELEMENT_TYPE_INT64: ElementType
ELEMENT_TYPE_UINT8: ElementType
ELEMENT_TYPE_UINT16: ElementType
ELEMENT_TYPE_UINT32: ElementType
ELEMENT_TYPE_UINT64: ElementType
ELEMENT_TYPE_FLOAT16: ElementType
ELEMENT_TYPE_BFLOAT16: ElementType
ELEMENT_TYPE_FLOAT32: ElementType
ELEMENT_TYPE_FLOAT64: ElementType
ELEMENT_TYPE_COMPLEX64: ElementType
ELEMENT_TYPE_COMPLEX128: ElementType

class File(_message.Message):
    __slots__ = ("format", "node_count", "crc32", "graph")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    NODE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    GRAPH_FIELD_NUMBER: _ClassVar[int]
    format: int
    node_count: int
    crc32: int
    graph: bytes
    def __init__(self, format: _Optional[int] = ..., node_count: _Optional[int] = ..., crc32: _Optional[int] = ..., graph: _Optional[bytes] = ...) -> None: ...

class Graph(_message.Message):
    __slots__ = ("strings", "dims", "types", "applications", "functions", "main", "variables", "signatures", "seed", "sidecar")
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    MAIN_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    SIGNATURES_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SIDECAR_FIELD_NUMBER: _ClassVar[int]
    strings: _containers.RepeatedScalarFieldContainer[str]
    dims: _containers.RepeatedScalarFieldContainer[str]
    types: _containers.RepeatedCompositeFieldContainer[Type]
    applications: _containers.RepeatedCompositeFieldContainer[Application]
    functions: _containers.RepeatedCompositeFieldContainer[Function]
    main: Body
    variables: _containers.RepeatedCompositeFieldContainer[Variable]
    signatures: _containers.RepeatedCompositeFieldContainer[Signature]
    seed: Value
    sidecar: Sidecar
    def __init__(self, strings: _Optional[_Iterable[str]] = ..., dims: _Optional[_Iterable[str]] = ..., types: _Optional[_Iterable[_Union[Type, _Mapping]]] = ..., applications: _Optional[_Iterable[_Union[Application, _Mapping]]] = ..., functions: _Optional[_Iterable[_Union[Function, _Mapping]]] = ..., main: _Optional[_Union[Body, _Mapping]] = ..., variables: _Optional[_Iterable[_Union[Variable, _Mapping]]] = ..., signatures: _Optional[_Iterable[_Union[Signature, _Mapping]]] = ..., seed: _Optional[_Union[Value, _Mapping]] = ..., sidecar: _Optional[_Union[Sidecar, _Mapping]] = ...) -> None: ...

class Type(_message.Message):
    __slots__ = ("dtype", "shape")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    dtype: ElementType
    shape: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, dtype: _Optional[_Union[ElementType, str]] = ..., shape: _Optional[_Iterable[int]] = ...) -> None: ...

class Application(_message.Message):
    __slots__ = ("op", "input_count", "types", "attributes")
    OP_FIELD_NUMBER: _ClassVar[int]
    INPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    op: int
    input_count: int
    types: _containers.RepeatedScalarFieldContainer[int]
    attributes: _containers.RepeatedCompositeFieldContainer[Attribute]
    def __init__(self, op: _Optional[int] = ..., input_count: _Optional[int] = ..., types: _Optional[_Iterable[int]] = ..., attributes: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ...) -> None: ...

class Attribute(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: int
    value: Value
    def __init__(self, name: _Optional[int] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("none", "boolean", "integer", "large_integer", "float_bits", "text", "dtype", "dim", "list", "array", "function")
    NONE_FIELD_NUMBER: _ClassVar[int]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    LARGE_INTEGER_FIELD_NUMBER: _ClassVar[int]
    FLOAT_BITS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    DIM_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    ARRAY_FIELD_NUMBER: _ClassVar[int]
    FUNCTION_FIELD_NUMBER: _ClassVar[int]
    none: bool
    boolean: bool
    integer: int
    large_integer: int
    float_bits: int
    text: str
    dtype: ElementType
    dim: int
    list: List
    array: Array
    function: int
    def __init__(self, none: _Optional[bool] = ..., boolean: _Optional[bool] = ..., integer: _Optional[int] = ..., large_integer: _Optional[int] = ..., float_bits: _Optional[int] = ..., text: _Optional[str] = ..., dtype: _Optional[_Union[ElementType, str]] = ..., dim: _Optional[int] = ..., list: _Optional[_Union[List, _Mapping]] = ..., array: _Optional[_Union[Array, _Mapping]] = ..., function: _Optional[int] = ...) -> None: ...

class List(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class Array(_message.Message):
    __slots__ = ("dtype", "shape", "data", "external")
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_FIELD_NUMBER: _ClassVar[int]
    dtype: ElementType
    shape: _containers.RepeatedScalarFieldContainer[int]
    data: bytes
    external: str
    def __init__(self, dtype: _Optional[_Union[ElementType, str]] = ..., shape: _Optional[_Iterable[int]] = ..., data: _Optional[bytes] = ..., external: _Optional[str] = ...) -> None: ...

class Sidecar(_message.Message):
    __slots__ = ("file", "size", "sha256")
    FILE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    file: str
    size: int
    sha256: bytes
    def __init__(self, file: _Optional[str] = ..., size: _Optional[int] = ..., sha256: _Optional[bytes] = ...) -> None: ...

class Body(_message.Message):
    __slots__ = ("applications", "inputs", "sites", "forward_sites", "scopes", "devices", "named_nodes", "names", "ordered_nodes", "after_counts", "after", "site_files", "site_lines", "site_functions")
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    SITES_FIELD_NUMBER: _ClassVar[int]
    FORWARD_SITES_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    NAMED_NODES_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    ORDERED_NODES_FIELD_NUMBER: _ClassVar[int]
    AFTER_COUNTS_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    SITE_FILES_FIELD_NUMBER: _ClassVar[int]
    SITE_LINES_FIELD_NUMBER: _ClassVar[int]
    SITE_FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    applications: _containers.RepeatedScalarFieldContainer[int]
    inputs: _containers.RepeatedScalarFieldContainer[int]
    sites: _containers.RepeatedScalarFieldContainer[int]
    forward_sites: _containers.RepeatedScalarFieldContainer[int]
    scopes: _containers.RepeatedScalarFieldContainer[int]
    devices: _containers.RepeatedScalarFieldContainer[int]
    named_nodes: _containers.RepeatedScalarFieldContainer[int]
    names: _containers.RepeatedScalarFieldContainer[int]
    ordered_nodes: _containers.RepeatedScalarFieldContainer[int]
    after_counts: _containers.RepeatedScalarFieldContainer[int]
    after: _containers.RepeatedScalarFieldContainer[int]
    site_files: _containers.RepeatedScalarFieldContainer[int]
    site_lines: _containers.RepeatedScalarFieldContainer[int]
    site_functions: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, applications: _Optional[_Iterable[int]] = ..., inputs: _Optional[_Iterable[int]] = ..., sites: _Optional[_Iterable[int]] = ..., forward_sites: _Optional[_Iterable[int]] = ..., scopes: _Optional[_Iterable[int]] = ..., devices: _Optional[_Iterable[int]] = ..., named_nodes: _Optional[_Iterable[int]] = ..., names: _Optional[_Iterable[int]] = ..., ordered_nodes: _Optional[_Iterable[int]] = ..., after_counts: _Optional[_Iterable[int]] = ..., after: _Optional[_Iterable[int]] = ..., site_files: _Optional[_Iterable[int]] = ..., site_lines: _Optional[_Iterable[int]] = ..., site_functions: _Optional[_Iterable[int]] = ...) -> None: ...

class Function(_message.Message):
    __slots__ = ("name", "body", "inputs", "outputs")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    body: Body
    inputs: _containers.RepeatedScalarFieldContainer[int]
    outputs: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., body: _Optional[_Union[Body, _Mapping]] = ..., inputs: _Optional[_Iterable[int]] = ..., outputs: _Optional[_Iterable[int]] = ...) -> None: ...

class Variable(_message.Message):
    __slots__ = ("name", "type", "initial", "trainable", "node")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INITIAL_FIELD_NUMBER: _ClassVar[int]
    TRAINABLE_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: int
    initial: int
    trainable: bool
    node: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., initial: _Optional[int] = ..., trainable: _Optional[bool] = ..., node: _Optional[int] = ...) -> None: ...

class Signature(_message.Message):
    __slots__ = ("name", "inputs", "outputs", "effects")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    inputs: _containers.RepeatedCompositeFieldContainer[Binding]
    outputs: _containers.RepeatedCompositeFieldContainer[Binding]
    effects: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[Binding, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[Binding, _Mapping]]] = ..., effects: _Optional[_Iterable[int]] = ...) -> None: ...

class Binding(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: int
    def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
