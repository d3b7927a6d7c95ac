"""Shapes of calls that several families share, as pieces of description."""

from .description import (
    Call,
    CallId,
    Filler,
    JsonCall,
    Marker,
    Node,
    array_end,
    bare,
    call,
    content,
    either,
    gap,
    interleaved,
    json_arguments,
    json_call,
    many,
    marker,
    optional,
    reasoning,
    seq,
    soft,
    tagged_arguments,
    tool_name,
    unwritten,
)

__all__ = [
    "arg_key_call",
    "dsml_calls",
    "function_call",
    "function_end",
    "hunyuan_turn",
    "in_block",
    "invoke_calls",
    "mistral_turn",
]

function_end = either(marker("</function>"), seq(marker("</function="), Filler(), marker(">")))
"""The closer of a function element, in which models repeat the tool's name."""


def function_call(*, line: str = "\n", trim: bool = False, joint: str = "\n") -> Call:
    """`<function=name>`, then `<parameter=key>value</parameter>` each, then `</function>`.

    `line` is written behind the name; `trim`: a newline on either side of a value is framing.
    """
    return call(
        marker("<function="),
        tool_name,
        soft(marker(">")),
        gap(line),
        either(tagged_arguments("<parameter={key}>", "</parameter>", trim=trim, joint=joint), json_arguments),
        soft(function_end),
    )


def in_block(opener: Marker, call_: Node, *others: Node) -> Node:
    """`call_` behind an opener that models leave out. `others` are read in its place, where the opener announces them."""
    return either(seq(opener, gap("\n"), either(call_, *others)), call_)


def arg_key_call(*, name_end: Node, line: str, suffixes: tuple[str, ...] = ("",)) -> Node:
    """`<tool_call>name`, then `<arg_key>key</arg_key><arg_value>value</arg_value>` each, then `</tool_call>`.

    `line` is written between the tags; `suffixes` are what checkpoints append to the names of their tags (`<tool_call:x>`), of
    which the first is written.
    """
    arguments = [
        tagged_arguments(
            f"<arg_key{suffix}>{{key}}</arg_key{suffix}>{line}<arg_value{suffix}>", f"</arg_value{suffix}>", joint=line
        )
        for suffix in suffixes
    ]
    opener, closer = _suffixed("<tool_call>", suffixes), _suffixed("</tool_call>", suffixes)
    return seq(
        opener,
        unwritten(opener),
        call(tool_name, name_end, gap(line), either(*arguments, json_arguments), soft(closer)),
    )


def hunyuan_turn(*, suffixes: tuple[str, ...], separated: bool) -> Node:
    """Hunyuan's thinking and its block of calls. `separated`: `<tool_sep>` is written behind a call's name.

    `suffixes` are what checkpoints append to the names of their tags; the first is written.
    """

    def tag(text: str) -> Marker:
        return _suffixed(text, suffixes)

    separator = tag("<tool_sep>")
    return seq(
        optional(tag("<think>"), reasoning, soft(tag("</think>"))),
        interleaved(
            content,
            seq(
                soft(tag("<tool_calls>")),
                gap("\n"),
                many(
                    arg_key_call(name_end=soft(separator) if separated else unwritten(separator), line="\n", suffixes=suffixes),
                    separator="\n",
                ),
                gap("\n"),
                soft(tag("</tool_calls>")),
            ),
        ),
    )


def _suffixed(tag: str, suffixes: tuple[str, ...]) -> Marker:
    return marker(*(f"{tag[:-1]}{suffix}>" for suffix in suffixes))


def invoke_calls(*, opener: Marker, closer: Marker, prefix: str = "", line: str = "\n", before: str = "\n") -> Node:
    """`opener`, then `<invoke name="f">` with `<parameter name="k">value</parameter>` each, then `closer`."""
    return seq(
        gap(before),
        soft(opener),
        gap("\n"),
        many(
            call(
                marker(f'<{prefix}invoke name="', f"<{prefix}invoke name='", f"<{prefix}invoke name="),
                tool_name,
                marker('">', "'>", ">", '"/>', "/>"),
                gap(line),
                either(
                    tagged_arguments(f'<{prefix}parameter name="{{key}}">', f"</{prefix}parameter>", joint="\n"), json_arguments
                ),
                soft(marker(f"</{prefix}invoke>")),
            ),
            separator="\n",
        ),
        gap("\n"),
        soft(closer),
    )


_BARS = ("｜", "｜｜", "‖", "|", "||")
"""What stands around DSML: the bar of the token, and what models write for it as text."""


def dsml_calls(wrapper: str, *wrappers: str, space: str = "") -> Node:
    """DeepSeek's markup: `<｜DSML｜wrapper>`, invokes with parameters that say whether they are text, `</｜DSML｜wrapper>`.

    `wrappers` are other names of the wrapper that models write; `space` stands behind the DSML token.
    """

    def tags(slash: str, *names: str) -> list[str]:
        return [f"<{slash}{bars}DSML{bars}{space}{name}" for bars in _BARS for name in names]

    parameters = [
        tagged_arguments(opener, closer, unwrap=("arguments", "input"))
        for opener, closer in zip(tags("", 'parameter name="{key}" string="{string}">'), tags("/", "parameter>"), strict=True)
    ]
    named = [f"{wrapper}>", *(f"{name}>" for name in wrappers)]
    return seq(
        gap("\n\n"),
        soft(marker(*tags("", *named))),
        gap("\n"),
        many(
            call(
                marker(*tags("", 'invoke name="', "invoke name=“", "invoke name=")),
                tool_name,
                marker('">', "”>", "“>", ">", '"/>', "/>"),
                gap("\n"),
                either(*parameters, json_arguments),
                soft(marker(*tags("/", "invoke>"))),
            ),
            separator="\n",
        ),
        gap("\n"),
        soft(marker(*tags("/", *named))),
    )


def mistral_turn(*, written: str) -> Node:
    """Mistral's `[TOOL_CALLS]` in all its forms, of which one is written: `array`, `named`, or `named with id`."""
    identified = seq(marker("[CALL_ID]"), CallId(sample="a1b2c3d4e"))
    named = call(
        tool_name,
        unwritten(marker("[TOOL_CALLS]")),
        soft(identified) if written == "named with id" else unwritten(identified),
        soft(marker("[ARGS]")),
        json_arguments,
    )
    array = seq(marker("["), many(json_call, separator=", ", tight=True), array_end)
    forms = (array, named, json_call) if written == "array" else (named, array, json_call)
    bare_call = JsonCall(needs_arguments=True)
    return seq(
        optional(marker("[THINK]", "<think>"), reasoning, soft(marker("[/THINK]", "</think>"))),
        interleaved(
            content,
            either(
                seq(
                    marker("[TOOL_CALLS]"),
                    unwritten(marker("[TOOL_CALLS]")),
                    gap(" " if written == "array" else ""),
                    either(*forms),
                    unwritten(marker("[/TOOL_CALLS]")),
                ),
                seq(marker("["), many(bare_call, separator=",", tight=True), array_end),
                bare(bare_call),
            ),
        ),
    )
