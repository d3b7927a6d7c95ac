"""Conversations to prompts, through the chat template the model was trained with."""

from .loading import Vocabulary
from .renderer import Renderer

__all__ = ["Renderer", "Vocabulary"]
