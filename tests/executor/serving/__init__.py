"""Tests of sessions in other processes, with real servers."""
