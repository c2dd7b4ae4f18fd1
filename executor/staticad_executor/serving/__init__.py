"""Sessions in another process: the service, its server and its client.  Needs gRPC."""
