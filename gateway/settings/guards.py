"""What keeps an agent that runs in circles, or that shows a model too much, from costing without end."""

from functools import cached_property

from pydantic import Field

from .section import Section


class GuardSettings(Section):
    """Bounds on conversations with tools. Where there is no number, there is no bound. Whatever a guard does stands in the
    answer's `x-toolwire-warnings`."""

    tool_rounds: int | None = Field(default=None, ge=1)
    """Most turns with calls in a conversation; then tools are withheld, and the model is told to answer."""
    tool_rounds_per_question: int | None = Field(default=None, ge=1)
    """The same, counted from the user's last message on."""
    repeated_calls: int | None = Field(default=None, ge=2)
    """So many calls of one tool with the same arguments, since the user's last message, are too many: the model is told."""
    result_characters: int | None = Field(default=None, ge=200)
    """Longest tool result; a longer one loses its middle, and says how much."""
    tool_tokens: int | None = Field(default=None, ge=16)
    """Tokens that the definitions of a request's tools should take together; more are reported."""
    tool_search: bool = False
    """Whether only tools that fit the conversation are shown where there are more than `tool_tokens`, found by search."""

    @cached_property
    def any(self) -> bool:
        """Whether there is any bound."""
        return self != GuardSettings()
