"""The ways in which answers can be written for clients that want opposite things."""

from typing import Literal

Wire = Literal["openai", "legacy-ui"]
