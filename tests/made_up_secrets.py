"""Made-up secrets, one at least for each kind, put together at run time from pieces.

No piece looks like a secret, so that no scanner of this repository finds one.
"""

import random
import string
from dataclasses import dataclass

LOWER_HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
BASE64_URL = ALNUM + "-_"
UPPER = string.ascii_uppercase + string.digits


@dataclass(frozen=True, slots=True)
class Sample:
    """A secret as a person would see it, and what must stand around it for it to be known."""

    kind: str
    secret: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


def drawn(length: int, letters: str = ALNUM, *, seed: int = 0) -> str:
    """Return letters that look drawn at random and are always the same."""
    return "".join(random.Random(seed).choices(letters, k=length))  # noqa: S311 - made up


def pem(kind: str = "RSA ", lines: int = 5, *, seed: int = 0) -> tuple[str, str, str]:
    """Return what opens a private key in PEM, its body, and what closes it."""
    body = [drawn(64, ALNUM + "+/", seed=seed + line) for line in range(lines)]
    body.append(drawn(10, seed=seed) + "==")
    dashes = "-" * 5
    label = kind + "PRIVATE" + " KEY" + dashes
    return dashes + "BEGIN " + label, "\n" + "\n".join(body) + "\n", dashes + "END " + label


def samples(seed: int = 0) -> list[Sample]:
    """Return the samples of one seed; those of another seed differ in every secret."""

    def token(prefix: str, length: int, letters: str = ALNUM) -> str:
        # A letter at both ends: dashes and underscores there would join or leave the word.
        body = drawn(length - 2, letters, seed=seed)
        return prefix + "a" + body + ("z" if letters != LOWER_HEX else "f")

    def hexes(prefix: str, length: int) -> str:
        return prefix + drawn(length, LOWER_HEX, seed=seed)

    def upper(prefix: str, length: int) -> str:
        return prefix + drawn(length, UPPER, seed=seed)

    url = BASE64_URL
    slashed = ALNUM + "+/"
    begin, body, end = pem(seed=seed)
    discord_id = "MTA5" + "NzQy" * 5
    return [
        Sample("age", upper("AGE-SECRET" + "-KEY-1", 58)),
        Sample("age", upper("AGE-SECRET" + "-KEY-PQ-1", 70)),
        Sample("anthropic", token("sk-" + "ant-api03-", 95, url)),
        Sample("anthropic", token("sk-" + "ant-admin01-", 95, url)),
        Sample("anthropic", token("sk-" + "ant-oat01-", 95, url)),
        Sample("anthropic", token("sk-" + "ant-ort01-", 95, url)),
        Sample("atlassian", token("ATA" + "TT3", 186, url)),
        *(Sample("aws_key_id", upper(name + "A", 16)) for name in ("AKI", "ASI", "ABI")),
        Sample("aws_key_id", upper("ACC" + "A", 16)),
        Sample("aws_secret_key", token("", 40, slashed), "aws_secret_" + "access_key = "),
        Sample("aws_secret_key", token("", 40, slashed), "AWS_SECRET_" + "ACCESS_KEY='", "'"),
        Sample("aws_secret_key", token("", 40, slashed), '"Secret' + 'AccessKey": "', '"'),
        Sample("azure", token("", 86, slashed) + "==", "Account" + "Key=", ";EndpointSuffix"),
        Sample("azure", token("", 43, slashed) + "=", "SharedAccess" + "Key="),
        Sample("databricks", hexes("da" + "pi", 32)),
        Sample("digitalocean", hexes("dop" + "_v1_", 64)),
        Sample("discord", token(discord_id + ".", 6, url) + token(".", 38, url)),
        Sample(
            "discord", token("", 68, url), "https://discord" + ".com/api/webhooks/" + "1" * 18 + "/"
        ),
        Sample("docker", token("dckr" + "_pat_", 27, url)),
        Sample("doppler", token("dp." + "pt.", 43)),
        Sample("doppler", token("dp." + "st.dev_main.", 43)),
        Sample("figma", token("fi" + "gd_", 40, url)),
        *(Sample("github", token("gh" + letter + "_", 36)) for letter in "pousr"),
        Sample(
            "github",
            token("ghs" + "_123456_ey", 40, url) + token(".ey", 90, url) + token(".", 90, url),
        ),
        Sample("github", token("github" + "_pat_", 22) + token("_", 59)),
        *(
            Sample("gitlab", token("gl" + name + "-", 20, url))
            for name in (
                "pat",
                "dt",
                "rt",
                "rtr",
                "cbt",
                "ptt",
                "ft",
                "imt",
                "agent",
                "soat",
                "oas",
            )
        ),
        Sample("gitlab", token("gl" + "pat-", 27, url) + ".01." + "0w1a2b3c4"),
        Sample("google", token("AI" + "za", 35, url)),
        Sample("google", token("ya" + "29.", 120, url)),
        Sample("google", token("GOC" + "SPX-", 28, url)),
        Sample("google", token("1/" + "/0", 60, url)),
        Sample("grafana", token("gl" + "sa_", 32) + hexes("_", 8)),
        Sample("grafana", token("gl" + "c_eyJ", 90, slashed) + "="),
        Sample("groq", token("gs" + "k_", 52)),
        Sample("huggingface", token("h" + "f_", 34)),
        Sample("huggingface", token("api" + "_org_", 34)),
        Sample(
            "jwt", token("ey" + "J", 34, url) + token(".ey" + "J", 60, url) + token(".", 43, url)
        ),
        Sample("linear", token("lin" + "_api_", 40)),
        Sample("linear", token("lin" + "_oauth_", 40)),
        Sample("new_relic", upper("NR" + "AK-", 27)),
        Sample("notion", token("nt" + "n_", 46)),
        Sample("notion", token("sec" + "ret_", 43)),
        Sample("npm", token("np" + "m_", 36)),
        Sample("openai", token("sk-" + "proj-", 150, url)),
        Sample("openai", token("sk-" + "svcacct-", 150, url)),
        Sample("openai", token("s" + "k-", 48)),
        Sample("openai", hexes("sk-" + "or-v1-", 64)),
        Sample("perplexity", token("pp" + "lx-", 48)),
        Sample("postman", hexes("PM" + "AK-", 24) + hexes("-", 34)),
        Sample("private_key", body, begin, end),
        Sample("private_key", body, pem("OPENSSH ")[0], pem("OPENSSH ")[2]),
        Sample("pypi", token("py" + "pi-AgE", 150, url)),
        Sample("replicate", token("r" + "8_", 37)),
        Sample("rubygems", hexes("ruby" + "gems_", 48)),
        Sample("sendgrid", token("S" + "G.", 22, url) + token(".", 43, url)),
        Sample("sentry", hexes("sntr" + "yu_", 64)),
        Sample("sentry", token("sntr" + "ys_eyJ", 90, slashed) + "==_" + token("", 43, slashed)),
        *(
            Sample("shopify", hexes("shp" + name + "_", 32))
            for name in ("at", "ca", "pa", "ss", "ua")
        ),
        Sample("slack", "xo" + "xb-" + "1" * 12 + token("-" + "2" * 12 + "-", 24)),
        Sample("slack", "xo" + "xe-1-" + token("", 146)),
        Sample("slack", token("xo" + "xd-", 90, ALNUM) + "%2B" + token("", 20) + "%3D"),
        Sample("slack", "xa" + "pp-1-A0" + "1" * 9 + hexes("-" + "2" * 13 + "-", 64)),
        Sample(
            "slack",
            upper("T0", 9) + "/" + upper("B0", 9) + token("/", 24),
            "https://hooks." + "slack.com/services/",
        ),
        Sample("stripe", token("sk" + "_live_", 24)),
        Sample("stripe", token("rk" + "_live_", 24)),
        Sample("stripe", token("sk" + "_test_", 99)),
        Sample("stripe", token("wh" + "sec_", 32, slashed)),
        Sample("supabase", hexes("sb" + "p_", 40)),
        Sample("supabase", token("sb_" + "secret_", 31, url)),
        Sample("tailscale", token("ts" + "key-auth-", 12) + token("-", 32)),
        Sample("telegram", "1234567890" + token(":A" + "A", 33, url)),
        Sample(
            "telegram",
            "1234567890" + token(":A" + "A", 33, url),
            "https://api.example/bot",
            "/getMe",
        ),
        Sample("terraform", token("", 14) + token(".atlas" + "v1.", 67, url)),
        Sample("twilio", token("", 32), hexes("A" + "C", 32) + ":", "@"),
        Sample("twilio", token("", 32), hexes("S" + "K", 32) + ":"),
        Sample("url_password", token("", 14) + "!", "postgres://ada:", "@db.example:5432/app"),
        Sample("url_password", token("", 14) + "@b", "redis://:", "@[::1]/0"),
        Sample("vault", token("hv" + "s.", 91, url)),
        Sample("vault", token("hv" + "b.", 140, url)),
        Sample("xai", token("xa" + "i-", 80)),
    ]
