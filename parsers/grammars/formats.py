"""Formats of strings as regular expressions: what matches one satisfies the check behind decoding, which asserts formats.

Not the other way round: forms that hardly anybody writes (quoted mailboxes, leap seconds, the 29th of February) are left out.
"""

_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"({_BYTE}\.){{3}}{_BYTE}"
_H = "[0-9a-fA-F]{1,4}"
_IPV6 = "|".join(
    (
        f"({_H}:){{7}}{_H}",
        f"({_H}:){{1,7}}:",
        *(f"({_H}:){{1,{left}}}(:{_H}){{1,{7 - left}}}" for left in range(6, 0, -1)),
        f":(:{_H}){{1,7}}",
        "::",
    )
)
_DATE = "[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = "[a-zA-Z0-9]([a-zA-Z0-9]{0,30}|[a-zA-Z0-9]{1,14}(-[a-zA-Z0-9]{1,14}){1,2})"
_HOST = rf"{_LABEL}(\.{_LABEL}){{0,3}}"
_ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]{1,20}"
_UNIT = "[0-9]{1,9}"
_DAYS = f"({_UNIT}D|{_UNIT}M({_UNIT}D)?|{_UNIT}Y({_UNIT}M({_UNIT}D)?)?)"
_CLOCK = f"T({_UNIT}S|{_UNIT}M({_UNIT}S)?|{_UNIT}H({_UNIT}M({_UNIT}S)?)?)"
_PATH = r"([a-zA-Z0-9._~!$&'()*+,;=:@/-]|%[0-9a-fA-F]{2})"
_TAIL = rf"(\?({_PATH}|\?)*)?(#({_PATH}|\?)*)?"
_AUTHORITY = rf"//({_HOST}|\[({_IPV6})\])(:[0-9]{{1,5}})?(/{_PATH}*)?"
_OPAQUE = r"([a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})"
_URI = rf"[a-zA-Z][a-zA-Z0-9+.-]{{0,30}}:({_AUTHORITY}|{_OPAQUE}{{1,100}}(/{_PATH}*)?|/({_OPAQUE}{_PATH}*)?){_TAIL}"
_MAIL = rf"{_ATOM}(\.{_ATOM}){{0,2}}@{_HOST}"

FORMATS = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{_DATE}[tT]{_TIME}",
    "duration": f"P({_DAYS}({_CLOCK})?|{_CLOCK}|{_UNIT}W)",
    "email": _MAIL,
    "idn-email": _MAIL,
    "hostname": _HOST,
    "idn-hostname": _HOST,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uuid": "[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    "uri": _URI,
    "iri": _URI,
    "uri-reference": rf"({_URI}|/({_OPAQUE}{_PATH}*)?{_TAIL}|({_OPAQUE.replace(':', '', 1)}{{1,100}}(/{_PATH}*)?)?{_TAIL})",
    "iri-reference": rf"({_URI}|/({_OPAQUE}{_PATH}*)?{_TAIL})",
    "uri-template": _URI,
    "json-pointer": "(/([^/~]|~[01])*)*",
    "relative-json-pointer": "(0|[1-9][0-9]{0,8})(#|(/([^/~]|~[01])*)*)",
}
UNSAID = frozenset({"regex"})
"""Formats that are checked, and that no expression says."""
