r"""Hide secrets of known kinds in raw log lines. Promises the kinds below, never "no secrets".

Works on the bytes of JSON lines before they are parsed, so a secret may stand behind an escape
such as \n, and a slash in it may be written \/. What is put in its place needs no escape.

Every shape begins with what its issuer begins it with. All quantifiers are possessive or have a
small bound, so time grows with the length of the text, whatever is in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

KINDS = {
    "age": "age secret keys (AGE-SECRET-KEY-1)",
    "anthropic": "Anthropic API keys, admin keys and OAuth tokens (sk-ant-)",
    "atlassian": "Atlassian API tokens (ATATT3)",
    "aws_key_id": "AWS access key ids (AKIA, ASIA, ABIA, ACCA)",
    "aws_secret_key": "AWS secret keys that stand beside their name (aws_secret_access_key)",
    "azure": "Azure account and shared access keys in connection strings (AccountKey=)",
    "databricks": "Databricks tokens (dapi)",
    "digitalocean": "DigitalOcean tokens (dop_v1_, doo_v1_, dor_v1_)",
    "discord": "Discord bot tokens, and the secret part of webhook addresses",
    "docker": "Docker Hub tokens (dckr_pat_, dckr_oat_)",
    "doppler": "Doppler tokens (dp.pt., dp.st., dp.ct., dp.sa., dp.scim., dp.audit.)",
    "figma": "Figma tokens (figd_)",
    "github": "GitHub tokens (ghp_, gho_, ghu_, ghs_, ghr_, github_pat_)",
    "gitlab": "GitLab tokens (glpat-, gldt-, glrt- and their like)",
    "google": "Google API keys, OAuth tokens and client secrets (AIza, ya29., 1//0, GOCSPX-)",
    "grafana": "Grafana tokens (glsa_, glc_)",
    "groq": "Groq API keys (gsk_)",
    "huggingface": "Hugging Face tokens (hf_, api_org_)",
    "jwt": "JSON web tokens (eyJ….eyJ….…)",
    "linear": "Linear API keys (lin_api_, lin_oauth_)",
    "new_relic": "New Relic user keys (NRAK-)",
    "notion": "Notion tokens (ntn_, secret_)",
    "npm": "npm tokens (npm_)",
    "openai": "OpenAI API keys, and the keys of others that begin with sk-",
    "perplexity": "Perplexity API keys (pplx-)",
    "postman": "Postman API keys (PMAK-)",
    "private_key": "private keys in PEM (-----BEGIN … PRIVATE KEY-----)",
    "pypi": "PyPI tokens (pypi-AgE)",
    "replicate": "Replicate tokens (r8_)",
    "rubygems": "RubyGems API keys (rubygems_)",
    "sendgrid": "SendGrid API keys (SG.)",
    "sentry": "Sentry auth tokens (sntrys_, sntryu_)",
    "shopify": "Shopify tokens and app secrets (shpat_, shpca_, shppa_, shpss_, shpua_)",
    "slack": "Slack tokens and cookies (xox…-, xapp-), and the secret part of webhook addresses",
    "stripe": "Stripe secret, restricted and webhook keys (sk_live_, rk_live_, sk_test_, whsec_)",
    "supabase": "Supabase tokens and secret keys (sbp_, sb_secret_)",
    "tailscale": "Tailscale keys (tskey-)",
    "telegram": "Telegram bot tokens",
    "terraform": "Terraform tokens (….atlasv1.…)",
    "twilio": "Twilio secrets that stand behind their id (AC…:, SK…:)",
    "url_password": "passwords in addresses (scheme://user:password@host)",
    "vault": "Vault tokens (hvs., hvb., hvr.)",
    "xai": "xAI API keys (xai-)",
}
"""The kinds of secrets that are hidden, by the name that stands in their place."""

PRIVATE_KEY = "private_key"
SHORTEST_KEY_BYTES, LONGEST_KEY_BYTES = 16, blake2b.MAX_KEY_SIZE
PEM_LINE_BYTES = 16
# How far before its mark a secret, or the context it stands in, may begin.
FARTHEST_MARK = 40
LONGEST_OPEN_BYTES = 1 << 16

Secret = tuple[int, int, str]  # first byte, byte after the last, kind

# What of a token a torn line may still show; the end of a token cannot be told from a tear.
_OPEN_TOKEN = rb"(?!\[redacted:)(?:[^\s\"\\]|\\++/){8,}+\\*+"


@dataclass(frozen=True, slots=True)
class Shape:
    """How one form of a kind is written: `context` stays, `start` and `rest` are hidden."""

    kind: str
    start: bytes
    rest: bytes
    mark: bytes = b""
    context: bytes = b""
    open_rest: bytes = _OPEN_TOKEN

    def quick_mark(self) -> tuple[bytes, bytes]:
        """Return what every such secret passes, cut in two: a rare byte's part, and the rest."""
        if self.mark:
            length = 1 + self.mark.startswith(b"\\")
            return self.mark[:length], self.mark[length:]
        end = rb"\." if self.start.endswith(rb"\.") else self.start[-1:]
        return end + rb"(?=[\w.+/\\=%-]{16})", rb"(?<=" + self.start + rb")"


# A word begins here: also after an escape, a colour code or %3D, which end in a letter, and
# where an address of Telegram has it.
# A backslash before it would make its first letter part of an escape.
_WORD = (
    rb"(?:(?<![\w\\])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})"
    rb"|(?<=%[0-9A-Fa-f]{2})|(?<=[0-9;\[]m)|(?<=/bot))"
)

# In a bytes pattern \w is [A-Za-z0-9_], and [^\W_] is that without the underscore.
_SLASH = rb"\\*+/"
_BASE64 = rb"(?:[A-Za-z0-9+=]|\\*+/)"
_GITLAB = rb"[\w-]{20,}+(?:\.[0-9a-z]{2}\.[0-9a-z]{6,12}+)?+"
_ASSIGNED = rb"(?:[ \t':=>,]|\\*+\")*+"
# Three digits of an id make four characters of base64, each from a small set.
_DISCORD_ID = rb"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,6}[^\W_]{0,3}"
_USER = rb":(?<=[A-Za-z0-9]:)\\*+/\\*+/[^\s/\"\\<>@:]{0,80}+:"
_PASSWORD = rb"(?!\$\w++@|\*++@|%\w@|\.++@)[^\s/\"\\<>'`{}?#\[\]]{1,200}(?=@[\w\[])"

_PEM_BEGIN = rb"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
# Between lines of a key: a newline, real or escaped, quotes of a list, a line number, a sign.
_PEM_GAP = (
    rb"(?:\\++[nrt\"]|[\s\",'+>|])*+"
    rb"(?:[0-9]{1,6}(?:\xe2\x86\x92|\\++u2192|\\++t|[\t:|]) ?)?+(?:-(?!-))?+"
)
_PEM_HEADER = rb"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\\\"\r\n]{0,120}+"
_PEM_CONTEXT = _PEM_BEGIN + rb"(?:" + _PEM_GAP + _PEM_HEADER + rb")*+"
_PEM_BODY = (
    rb"(?:" + _PEM_GAP + _BASE64 + rb"{16,}+)++"
    rb"(?:" + _PEM_GAP + _BASE64 + rb"{1,15}+(?=[\\\"\r\n]| ?-|\Z))?+"
)
_PEM_PIECE = re.compile(rb"\\++(?:u[0-9A-Fa-f]{4}|[^/u]|(?!/))|(" + _BASE64 + rb"++)")

SHAPES = (
    Shape("anthropic", rb"sk-ant-", rb"[\w-]{24,}+"),
    Shape("openai", rb"sk-", rb"(?:proj|svcacct|admin|None)-[\w-]{20,}+"),
    Shape("openai", rb"sk-", rb"[^\W_]{32,}+"),
    Shape("openai", rb"sk-", rb"(?![a-z-]{36})[\w-]{36,}+"),
    Shape("github", rb"gh[opru]_", rb"[^\W_]{36,}+"),
    Shape("github", rb"ghs_", rb"[\w-]{36,}+(?:\.[\w-]{8,}+){0,2}+"),
    Shape("github", rb"github_pat_", rb"\w{36,}+"),
    Shape("gitlab", rb"gl(?:dt|ft|rt|wt)-", _GITLAB),
    Shape("gitlab", rb"gl(?:cbt|imt|oas|pat|ptt|rtr)-", _GITLAB),
    Shape("gitlab", rb"gl(?:ffct|soat)-", _GITLAB),
    Shape("gitlab", rb"glagent-", _GITLAB),
    Shape(
        "aws_key_id",
        rb"A(?:KIA|SIA|BIA|CCA)",
        rb"[A-Z0-9]{16}(?!\w)",
        rb"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
    ),
    Shape(
        "aws_secret_key",
        rb"",
        _BASE64 + rb"{40}(?![A-Za-z0-9+/=])",
        rb"_(?:(?<=ws_secret_)(?=access_key)|(?<=WS_SECRET_)(?=ACCESS_KEY))",
        rb"[aA](?:ws_secret_access_key|WS_SECRET_ACCESS_KEY)" + _ASSIGNED,
    ),
    Shape(
        "aws_secret_key",
        rb"",
        _BASE64 + rb"{40}(?![A-Za-z0-9+/=])",
        rb"A(?=ccessKey)(?<=ecretA)",
        rb"[Ss]ecretAccessKey" + _ASSIGNED,
    ),
    Shape("google", rb"AIza", rb"[\w-]{35,}+", rb"AIza[\w-]{35}"),
    Shape("google", rb"ya29\.", rb"[\w.-]{30,}+"),
    Shape("google", rb"GOCSPX-", rb"[\w-]{20,}+"),
    Shape("google", rb"1" + _SLASH + _SLASH + rb"0", rb"[\w-]{30,}+", rb"/(?<=[/\\]/)0[\w-]{30}"),
    Shape("slack", rb"xox[a-z]-", rb"(?=[0-9])[A-Za-z0-9-]{20,}+"),
    Shape("slack", rb"xoxd-", rb"(?:[\w+=-]|%[0-9A-Fa-f]{2}|\\*+/){40,}+"),
    Shape("slack", rb"xapp-", rb"(?=[0-9])[A-Za-z0-9-]{30,}+"),
    Shape(
        "slack",
        rb"",
        rb"(?=[^\W_])(?:[\w-]|\\*+/){20,}+",
        rb"\.(?=slack\.com)",
        rb"hooks\.slack\.com" + _SLASH + rb"(?:services|workflows|triggers)" + _SLASH,
    ),
    Shape("stripe", rb"[rs]k_(?:live|test)_", rb"[^\W_]{16,}+"),
    Shape("stripe", rb"whsec_", _BASE64 + rb"{24,}+"),
    Shape("npm", rb"npm_", rb"[^\W_]{36,}+"),
    Shape("pypi", rb"pypi-", rb"AgE[\w-]{50,}+"),
    Shape("sendgrid", rb"SG\.", rb"[\w-]{22}\.[\w-]{43,}+"),
    Shape(
        "twilio",
        rb"",
        rb"[^\W_]{32}(?!\w)",
        rb":(?<=[CK][0-9a-f]{32}:)",
        _WORD + rb"[AS][CK][0-9a-f]{32}:",
    ),
    Shape("telegram", rb"[0-9]{8,10}:AA", rb"[\w-]{33}", rb":AA[\w-]{33}"),
    Shape("discord", _DISCORD_ID + rb"\.", rb"[\w-]{6}\.[\w-]{27,}+", rb"\.[\w-]{6}\.[\w-]{27}"),
    Shape(
        "discord",
        rb"",
        rb"[\w-]{60,}+",
        rb"\.(?:(?<=discord\.)|(?<=discordapp\.))com[/\\]",
        rb"discord(?:app)?\.com(?:\\*+/\w{1,8}){1,2}\\*+/webhooks\\*+/[0-9]{16,20}" + _SLASH,
    ),
    Shape("huggingface", rb"hf_", rb"[^\W_]{30,}+"),
    Shape("huggingface", rb"api_org_", rb"[^\W_]{30,}+"),
    Shape("replicate", rb"r8_", rb"[^\W_]{36,}+"),
    Shape("digitalocean", rb"do[opr]_v1_", rb"[0-9a-f]{64}"),
    Shape("shopify", rb"shp[acpsu][as]_", rb"[0-9A-Fa-f]{32,}+"),
    Shape("shopify", rb"shpat_", rb"[0-9A-Fa-f]{32,}+"),
    Shape("vault", rb"hv[brs]\.", rb"[\w-]{24,}+"),
    Shape("terraform", rb"[^\W_]{14}\.atlasv1\.", rb"[\w=-]{40,}+"),
    Shape("azure", rb"", _BASE64 + rb"{40,}+", rb"A(?=ccountKey=)", rb"AccountKey="),
    Shape("azure", rb"", _BASE64 + rb"{40,}+", rb"A(?=ccessKey=)", rb"SharedAccessKey="),
    # No dash of a word before it: it may hold dashes, and would be tried again behind each.
    Shape(
        "jwt",
        rb"eyJ(?:(?<![\w-]-eyJ)|(?<=\\n-eyJ))",
        rb"[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{20,}+",
        rb"eyJ[\w-]{10}",
    ),
    Shape(
        PRIVATE_KEY,
        rb"",
        _PEM_BODY,
        _PEM_CONTEXT + _PEM_BODY,
        _PEM_CONTEXT,
        rb"[\w\s+/=\\\",'>|:-]++",
    ),
    Shape("age", rb"AGE-SECRET-KEY-", rb"(?:PQ-)?1[0-9A-Z]{50,}+"),
    Shape(
        "url_password",
        rb"",
        _PASSWORD,
        _USER + _PASSWORD,
        _USER,
        rb"(?!\[redacted:|[0-9]{1,5}\Z)[^\s\"\\/]++\\*+",
    ),
    Shape("sentry", rb"sntry[a-z]_", rb"(?:[\w+=-]|\\*+/){40,}+"),
    Shape("linear", rb"lin_api_", rb"[^\W_]{32,}+"),
    Shape("linear", rb"lin_oauth_", rb"[^\W_]{32,}+"),
    Shape("notion", rb"ntn_", rb"[^\W_]{40,}+"),
    Shape("notion", rb"secret_", rb"[^\W_]{43}(?![^\W_])"),
    Shape("databricks", rb"dapi", rb"[0-9a-f]{32}(?:-[0-9])?+(?!\w)", rb"dapi[0-9a-f]{32}"),
    Shape(
        "doppler",
        rb"dp\.(?:[pcs]t|sa|scim|audit)\.",
        rb"(?:[\w-]{1,40}\.)?[^\W_]{40,}+",
        rb"\.(?:(?<=dp\...\.)|(?<=dp\.scim\.)|(?<=dp\.audit\.))",
    ),
    Shape("groq", rb"gsk_", rb"[^\W_]{40,}+"),
    Shape("xai", rb"xai-", rb"[^\W_]{60,}+"),
    Shape("perplexity", rb"pplx-", rb"[^\W_]{40,}+"),
    Shape("supabase", rb"sbp_", rb"[0-9a-z_]{40,}+"),
    Shape("supabase", rb"sb_secret_", rb"[\w-]{20,}+"),
    Shape("docker", rb"dckr_[op]at_", rb"[\w-]{24,}+"),
    Shape("grafana", rb"glsa_", rb"[^\W_]{32}_[0-9a-f]{8}"),
    Shape("grafana", rb"glc_", rb"eyJ" + _BASE64 + rb"{40,}+"),
    Shape("figma", rb"figd_", rb"[\w-]{40,}+"),
    Shape("postman", rb"PMAK-", rb"[0-9a-f]{24}-[0-9a-f]{34}"),
    Shape("new_relic", rb"NRAK-", rb"[A-Z0-9]{27}"),
    Shape("tailscale", rb"tskey-", rb"[a-z]{3,12}-[^\W_]{8,32}-[^\W_]{24,}+"),
    Shape("rubygems", rb"rubygems_", rb"[0-9a-f]{48}"),
    Shape("atlassian", rb"ATATT3", rb"[\w=-]{100,}+", rb"ATATT3[\w=-]{100}"),
)


def _any_of(patterns: list[bytes]) -> bytes:
    return rb"(?:" + rb"|".join(patterns) + rb")"


def _all_of(rests: list[bytes]) -> re.Pattern[bytes]:
    """Combine all shapes; the one that matched tells itself by an empty group.

    The group stands behind a literal: a branch that begins with one is passed over by one look.
    """
    words = [
        shape.start + rest + rb"[\w-]*+()"
        for shape, rest in zip(SHAPES, rests, strict=True)
        if not shape.context
    ]
    others = [
        shape.context + rb"()" + rest
        for shape, rest in zip(SHAPES, rests, strict=True)
        if shape.context
    ]
    return re.compile(_any_of([_WORD + _any_of(words), *others]))


def _marks() -> Iterator[re.Pattern[bytes]]:
    """Yield one pattern per head, to which the search then skips."""
    by_head: dict[bytes, list[bytes]] = {}
    for shape in SHAPES:
        head, rest = shape.quick_mark()
        by_head.setdefault(head, []).append(rest)
    for head, rests in by_head.items():
        yield re.compile(head + _any_of(list(dict.fromkeys(rests))))


# Shapes that begin a word come first, as their groups do.
_BY_GROUP = tuple(sorted(SHAPES, key=lambda shape: bool(shape.context)))
_MARKS = tuple(_marks())
_SECRET = _all_of([shape.rest for shape in SHAPES])
_OPEN_SECRET = _all_of([shape.open_rest for shape in SHAPES])


class Redactor:
    """Replaces secrets by `[redacted:KIND:FINGERPRINT]`; equal secrets get equal fingerprints."""

    def __init__(self, key: bytes) -> None:
        """Take the key without which no fingerprint can be guessed or compared."""
        if not SHORTEST_KEY_BYTES <= len(key) <= LONGEST_KEY_BYTES:
            allowed = f"{SHORTEST_KEY_BYTES} to {LONGEST_KEY_BYTES}"
            raise ValueError(f"a redaction key has {allowed} bytes, not {len(key)}")
        self._key = key

    def redact(self, text: bytes) -> bytes:
        """Return the same lines without secrets, or the very same object if there are none."""
        secrets = sorted(_secrets_in(text))
        return self._without(secrets, text) if secrets else text

    def redact_tail(self, tail: bytes) -> bytes:
        """Redact a torn last line, and hide what may be the beginning of a secret at its end."""
        text = self.redact(tail)
        for match in _OPEN_SECRET.finditer(text, max(0, len(text) - LONGEST_OPEN_BYTES)):
            if match.end() == len(text):
                return self._without([_secret_of(match)], text)
        return text

    def _without(self, secrets: list[Secret], text: bytes) -> bytes:
        pieces: list[bytes] = []
        at = 0
        for start, end, kind in secrets:
            if end > at:
                pieces += text[at:start], self._hidden(kind, text[start:end])
                at = end
        return b"".join((*pieces, text[at:]))

    def _hidden(self, kind: str, secret: bytes) -> bytes:
        if kind == PRIVATE_KEY:
            return self._emptied(secret)
        return self._marker(kind, secret.replace(b"\\", b""))

    def _emptied(self, body: bytes) -> bytes:
        """Empty the lines of a key but keep what is between them: they may be strings of a list."""
        runs = [match[1] for match in _PEM_PIECE.finditer(body) if match[1]]
        # Without line numbers, so that a key has one fingerprint however it was shown.
        lines = [run for run in runs if len(run) >= PEM_LINE_BYTES]
        marker = self._marker(PRIVATE_KEY, b"".join(lines or runs).replace(b"\\", b""))
        fillings = iter((marker,))
        return _PEM_PIECE.sub(lambda match: next(fillings, b"") if match[1] else match[0], body)

    def _marker(self, kind: str, secret: bytes) -> bytes:
        # 64 bits: among a million secrets two meet once in forty million times; still readable.
        fingerprint = blake2b(secret, digest_size=8, key=self._key).hexdigest()
        return f"[redacted:{kind}:{fingerprint}]".encode()


def _secrets_in(text: bytes) -> Iterator[Secret]:
    """Yield what is to be hidden, in no order; what two marks lead to comes twice."""
    for mark in _MARKS:
        at = 0
        for hit in mark.finditer(text):
            at = max(at, hit.start() - FARTHEST_MARK)
            while at <= hit.start():
                match = _SECRET.match(text, at)
                if match:
                    yield _secret_of(match)
                at = match.end() if match else at + 1


def _secret_of(match: re.Match[bytes]) -> Secret:
    group = match.lastindex or 0
    shape = _BY_GROUP[group - 1]
    return (match.start(group) if shape.context else match.start(), match.end(), shape.kind)
