"""The Open Inference Protocol, version 2, on signatures of saved graphs: gRPC and HTTP."""
