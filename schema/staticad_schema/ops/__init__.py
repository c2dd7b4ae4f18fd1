"""The definitions, one module a family.  Importing this package fills the registry."""
