"""Other frameworks on the same workloads; each module runs in an interpreter that has that one."""
