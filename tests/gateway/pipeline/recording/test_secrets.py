"""What looks like a secret is found wherever it stands, what does not is left alone, and long texts cost little."""

import time

import pytest

from gateway.pipeline.recording.secrets import is_secret_name, without_secrets


@pytest.mark.parametrize(
    "text",
    [
        "my key is |sk-abcdefghijklmnop123456|, keep it",
        "(|sk-ant-api03-abcdefghijklmnop|)",
        "|tw-0123456789abcdefghijABCDEFGHIJ|",
        "push with |ghp_0123456789abcdefABCDEF| or |github_pat_0123456789abcdefABCDEF|",
        "|AKIAABCDEFGHIJKLMNOP|",
        "|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def|",
        "a\n|-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----|\nb",
        "cut: |-----BEGIN PRIVATE KEY-----\nAAAA|",
        "Authorization: Bearer |abc.def~ghi|",
        "AUTHORIZATION: Basic |dXNlcjpwYXNz|",
        '{"api_key": "|0123456789|", "n": 1}',
        '{\\"x-api-key\\": \\"|0123456789|\\"}',
        "<parameter=password>\n|hunter2hunter2|\n</parameter>",
        "db_password=|hunter22| user=x",
        "use bearer |0123456789abcdef| there",
        "access-token = '|0123456789|'; client_secret:|s3cr3ts3cr3t|",
        "Authorization: Bearer |sk-abcdefghijklmnop123456|",
        "İstanbul password: |hunter2hunter2|",
    ],
)
def test_secrets_are_starred_in_their_length(text: str) -> None:
    clean, stars = text.replace("|", ""), ""
    for place, part in enumerate(text.split("|")):
        stars += "*" * len(part) if place % 2 else part
    assert without_secrets(clean) == stars
    assert len(stars) == len(clean)


@pytest.mark.parametrize(
    "text",
    [
        "ask-me-anything-you-would-like-to-know",
        "a task-list-of-many-many-things",
        "The password is needed. Tokens are counted; authorization follows.",
        '{"password": {"type": "string"}, "token": 5}',
        "the bearer of this letter",
        "sk-short",
        "",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_names_of_secrets() -> None:
    assert all(map(is_secret_name, ("api_key", "X-API-Key", "Authorization", "proxy-authorization", "access_token", "apiKey")))
    assert not any(map(is_secret_name, ("city", "token", "passwords", "")))


def test_the_search_is_linear_also_where_beginnings_abound() -> None:
    def took(times: int) -> float:
        text = "eyJ-sk-password:-----BEGIN bearer " * times
        began = time.process_time()
        without_secrets(text)
        return time.process_time() - began

    small = large = float("inf")
    for _ in range(10):
        small, large = min(small, took(2_000)), min(large, took(8_000))
        if large < 12 * small:
            return
    pytest.fail(f"four times the text costs {large / small:.1f} times the time")
