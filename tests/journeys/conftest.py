from tests.cli.conftest import where

__all__ = ["where"]
