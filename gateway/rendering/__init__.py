"""Conversations to prompts, through the chat template the model was trained with."""

from .renderer import Renderer, Vocabulary

__all__ = ["Renderer", "Vocabulary"]
