"""List the formats of tokens that are recognised in any context, each with a made-up example.

It is imported with the first text that has a word as long as a token.

Patterns take linear time (see `secret_shapes`). `<` at their beginning means: not in the middle of a word. In
examples `{36}` stands for that many letters and digits, `{x32}` for hexadecimal digits, `{A16}` for capitals
and digits, `{d9}` for digits; `·` stands for nothing: no scanner takes this file for a leak.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct


class SecretContext(Struct, frozen=True):
    """A secret that is recognised by the text around it, with an example in which the secret is in «»."""

    name: str
    example: str


#: No token is shorter.
SHORTEST_TOKEN: Final = 12


class TokenFormat(Struct, frozen=True):
    name: str
    #: Parts of it, in lower case: a text without any of them has no such token.
    hints: tuple[str, ...]
    pattern: str
    example: str
    #: The minimum length of the word it is in, if many words contain its hint.
    shortest: int = SHORTEST_TOKEN


_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_SOME_UUID = "{x8}-{x4}-{x4}-{x4}-{x12}"

_Row = tuple[str, tuple[str, ...], str, str] | tuple[str, tuple[str, ...], str, str, int]
_ROWS: Final = (
    # Code, packages, builds
    ("GitHub", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{16,}+", "ghp_{36}"),
    ("GitHub, fine-grained", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{16,}+", "github_pat_{22}_{59}"),
    (
        "GitLab",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-", "gloas-"),
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[A-Za-z0-9_.-]{16,}+",
        "glpat-{20}",
    ),
    ("Bitbucket app password", ("atbb",), r"<ATBB[A-Za-z0-9]{24,}+", "ATBB{32}"),
    ("Atlassian", ("atatt3x", "atctt3x"), r"AT[AC]TT3x[A-Za-z0-9_=-]{24,}+", "ATATT3x{60}={x8}"),
    ("npm", ("npm_",), r"npm_[A-Za-z0-9]{20,}+", "npm_{36}"),
    ("PyPI", ("pypi-",), r"pypi-[A-Za-z0-9_-]{32,}+", "pypi-{80}"),
    ("RubyGems", ("rubygems_",), r"rubygems_[0-9a-f]{32,}+", "rubygems_{x48}"),
    ("crates.io", ("cio",), r"<cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", "cio{32}", 35),
    ("NuGet", ("oy2",), r"<oy2[a-z0-9]{43}(?![a-z0-9])", "oy2{x43}", 46),
    ("Clojars", ("clojars_",), r"CLOJARS_[0-9a-z]{40,}+", "CLOJARS_{x60}"),
    ("Docker Hub", ("dckr_pat_", "dckr_oat_"), r"dckr_[po]at_[A-Za-z0-9_-]{20,}+", "dckr_pat_{27}"),
    ("JFrog Artifactory", ("akcp",), r"<AKCp[A-Za-z0-9]{40,}+", "AKCp{69}"),
    ("SonarQube", ("squ_", "sqp_", "sqa_"), r"<sq[upa]_[0-9a-f]{40}", "squ_{x40}"),
    ("CircleCI", ("ccipat_", "cciprj_"), r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{20,}+", "CCIPAT_{22}_{x40}"),
    ("Buildkite", ("bkua_", "bkct_", "bkaj_"), r"<bk(?:ua|ct|aj)_[A-Za-z0-9_]{20,}+", "bkua_{x40}"),
    ("Sourcegraph", ("sgp_",), r"<sgp_[A-Za-z0-9_]{32,}+", "sgp_{x16}_{x40}"),
    ("Postman", ("pmak-",), r"PMAK-[A-Za-z0-9-]{24,}+", "PMAK-{x24}-{x34}"),
    # Clouds and hosting
    ("AWS access key", ("akia", "asia", "abia", "acca"), r"<A(?:KI|SI|BI|CC)A[0-9A-Z]{12,}+", "AKIA{A16}"),
    ("Google API key", ("aiza",), r"AIza[A-Za-z0-9_-]{20,}+", "AIza{35}"),
    ("Google access token", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{16,}+", "ya29.{60}"),
    ("Google refresh token", ("1//0",), r"<1//0[A-Za-z0-9_-]{30,}+", "1//0{60}"),
    ("Google OAuth secret", ("gocspx-",), r"GOCSPX-[A-Za-z0-9_-]{16,}+", "GOCSPX-{28}"),
    ("Azure client secret", ("q~",), r"<[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{30,}+", "MaU8Q~{34}", 36),
    ("Azure DevOps", ("azdo",), r"<[A-Za-z0-9]{64,80}?AZDO[A-Za-z0-9]{4}", "{76}AZDO{4}"),
    ("DigitalOcean", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[por]_v1_[a-f0-9]{32,}+", "dop_v1_{x64}"),
    ("Heroku", ("hrku-",), r"HRKU-[A-Za-z0-9_-]{30,}+", "HRKU-AA{58}"),
    ("Fly", ("fo1_", "fm1a_", "fm1r_", "fm2_"), r"<(?:fo1|fm1[ar]|fm2)_[A-Za-z0-9_+/=,-]{30,}+", "fo1_{43}"),
    ("Netlify", ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), r"<nf[pcoub]_[A-Za-z0-9]{30,}+", "nfp_{36}"),
    ("Vercel", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), r"<vc[piark]_[A-Za-z0-9]{24,}+", "vcp_{56}"),
    ("Render", ("rnd_",), r"<rnd_[A-Za-z0-9]{24,}+", "rnd_{28}"),
    ("Cloudflare origin key", ("v1.0-",), r"<v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}+", "v1.0-{x24}-{x146}"),
    ("Cloudflare", ("cfut_", "cfat_", "cfk_"), r"<cf(?:ut|at|k)_[A-Za-z0-9_-]{30,}+", "cfut_{48}"),
    ("Terraform Cloud", (".atlasv1.",), r"<[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{30,}+", "{14}.atlasv1.{67}"),
    ("Pulumi", ("pul-",), r"<pul-[0-9a-f]{40}", "pul-{x40}"),
    ("Vault", ("hvs.", "hvb.", "hvr."), r"<hv[sbr]\.[A-Za-z0-9_-]{20,}+", "hvs.{90}"),
    ("Vault, before 1.10", ("s.",), r"<s\.(?=[A-Za-z]{0,23}[0-9])[A-Za-z0-9]{24}(?![\w.(-])", "s.{24}", 26),
    ("Doppler", ("dp.",), r"<dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,40}+\.)?[A-Za-z0-9]{32,}+", "dp.st.dev.{43}"),
    (
        "1Password secret key",
        ("a3-",),
        r"<A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
        "A3-{A6}-{A11}-{A5}-{A5}-{A5}",
    ),
    ("1Password service account", ("ops_eyj",), r"ops_eyJ[A-Za-z0-9_+/=-]{60,}+", "ops_eyJ{120}"),
    ("Tailscale", ("tskey-",), r"tskey-[A-Za-z0-9-]{12,}+", "tskey-auth-{17}-{32}"),
    ("age", ("age-secret-key-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{16,}+", "AGE-SECRET-KEY-1{A58}"),
    # Models
    (
        "OpenAI, Anthropic, OpenRouter and others",
        ("sk-",),
        r"<sk-(?=[A-Za-z_-]{0,48}[0-9])[A-Za-z0-9_-]{16,}+",
        "sk-ant-api03-{93}",
    ),
    ("Groq", ("gsk_",), r"<gsk_[A-Za-z0-9]{20,}+", "gsk_{52}"),
    ("xAI", ("xai-",), r"<xai-[A-Za-z0-9]{20,}+", "xai-{80}"),
    ("Hugging Face", ("hf_", "api_org_"), r"<(?:hf|api_org)_[A-Za-z0-9]{20,}+", "hf_{34}"),
    ("Perplexity", ("pplx-",), r"<pplx-[A-Za-z0-9]{32,}+", "pplx-{48}"),
    ("Replicate", ("r8_",), r"<r8_[A-Za-z0-9]{30,}+", "r8_{37}"),
    ("Fireworks", ("fw_",), r"<fw_[A-Za-z0-9]{22,24}(?![A-Za-z0-9_])", "fw_{22}"),
    ("NVIDIA", ("nvapi-",), r"<nvapi-[A-Za-z0-9_-]{30,}+", "nvapi-{64}"),
    ("LangSmith", ("lsv2_",), r"<lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_pt_{x32}_{x10}"),
    ("Pinecone", ("pcsk_",), r"<pcsk_[A-Za-z0-9_]{40,}+", "pcsk_{70}"),
    ("Tavily", ("tvly-",), r"<tvly-[A-Za-z0-9-]{24,}+", "tvly-dev-{32}"),
    ("ElevenLabs", ("sk_",), r"<sk_[0-9a-f]{40,}+", "sk_{x48}", 43),
    ("E2B", ("e2b_",), r"<e2b_[0-9a-f]{40}", "e2b_{x40}"),
    ("Firecrawl", ("fc-",), r"<fc-[0-9a-f]{32}(?![0-9a-f])", "fc-{x32}"),
    ("Amazon Bedrock", ("absk",), r"<ABSK[A-Za-z0-9+/=-]{40,}+", "ABSK{108}"),
    ("Cursor", ("key_",), r"<key_[a-z0-9]{60,}+", "key_{x64}", 64),
    ("Cerebras", ("csk-",), r"<csk-[a-z0-9]{40,}+", "csk-{x48}"),
    ("Together", ("tgp_v1_",), r"<tgp_v1_[A-Za-z0-9_-]{40,}+", "tgp_v1_{43}"),
    ("Jina", ("jina_",), r"<jina_[A-Za-z0-9_-]{40,}+", "jina_{x32}{28}"),
    ("Voyage", ("pa-",), r"<pa-[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])", "pa-{43}", 46),
    ("Baseten, Modal", ("ak-", "as-"), r"<a[ks]-[A-Za-z0-9]{22}(?![A-Za-z0-9-])", "ak-{22}", 25),
    ("Exa, Browserbase", ("bb_live_", "bb_test_"), r"<bb_(?:live|test)_[A-Za-z0-9_-]{20,}+", "bb_live_{27}"),
    ("PostHog", ("phx_", "phs_"), r"<ph[xs]_[A-Za-z0-9]{32,}+", "phx_{43}"),
    ("Daytona", ("dtn_",), r"<dtn_[0-9a-f]{60,}+", "dtn_{x64}"),
    ("Railway", ("rw_",), r"<rw_Fe26\.2\*\*[A-Za-z0-9_*.=-]{40,}+", "rw_Fe26.2**{80}"),
    # Chat and mail
    ("Slack", ("xox",), r"xox[a-z]-[A-Za-z0-9-]{8,}+", "xoxb-{d12}-{d13}-{24}"),
    ("Slack app", ("xapp-",), r"xapp-[A-Za-z0-9-]{8,}+", "xapp-1-A{A10}-{d13}-{x64}"),
    (
        "Slack webhook",
        ("hooks.slack.com/",),
        r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}+",
        "https://hooks.slack.com/services/T{A8}/B{A8}/{24}",
    ),
    (
        "Discord bot",
        (".",),
        r"<[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}+",
        "MTk4{20}.Cl2FMQ.{27}", 58,
    ),
    (
        "Discord webhook",
        ("/api/webhooks/",),
        r"(?<=/api/webhooks/)\d{16,20}/[A-Za-z0-9_-]{40,}+",
        "https://discord.com/api/webhooks/{d18}/{68}",
    ),
    ("Telegram bot", (":aa",), r"<[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])", "{d10}:AA{33}"),
    ("Twilio", ("sk",), r"<SK[0-9a-f]{32}(?![0-9a-f])", "SK{x32}", 34),
    ("SendGrid", ("sg.",), r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+", "SG.{22}.{43}"),
    ("Mailgun", ("key-",), r"<key-[0-9a-f]{32}(?![0-9a-f])", "key-{x32}"),
    ("Mailgun, newer", ("-",), r"<[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])", "{x32}-{x8}-{x8}", 50),
    ("Mailchimp", ("-us",), r"<[0-9a-f]{32}-us[0-9]{1,2}(?![0-9a-z])", "{x32}-us12", 36),
    ("Brevo", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[0-9a-f]{40,}+-[A-Za-z0-9]{10,}+", "xkeysib-{x64}-{16}"),
    ("Resend", ("re_",), r"<re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9_])", "re_{8}_{24}"),
    # Money and shops
    ("Stripe", ("k_live_", "k_test_"), r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}+", "sk_live_{24}"),
    ("Stripe webhook", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{16,}+", "whsec_{32}"),
    ("Square", ("sq0",), r"<sq0[a-z]{3}-[A-Za-z0-9_-]{22,}+", "sq0csp-{43}"),
    ("Square, Facebook", ("eaa",), r"<EAA[A-Za-z0-9_-]{50,}+", "EAAA{60}"),
    ("Shopify", ("shpat_", "shpss_", "shpca_", "shppa_"), r"shp(?:at|ss|ca|pa)_[a-f0-9]{16,}+", "shpat_{x32}"),
    ("Razorpay", ("rzp_",), r"<rzp_(?:live|test)_[A-Za-z0-9]{14,}+", "rzp_live_{14}"),
    (
        "Plaid",
        ("access-",),
        rf"<access-(?:sandbox|development|production)-{_UUID}",
        f"access-production-{_SOME_UUID}", 50,
    ),
    ("EasyPost", ("ezak", "eztk"), r"<EZ[AT]K[A-Za-z0-9]{54}", "EZAK{54}"),
    # Data, monitoring, office
    ("Databricks", ("dapi",), r"<dapi[0-9a-f]{32}(?:-[0-9])?(?![0-9a-f])", "dapi{x32}-2"),
    ("Supabase", ("sbp_", "sb_secret_"), r"<(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,}+)", "sbp_{x40}"),
    ("PlanetScale", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}+", "pscale_tkn_{43}"),
    ("Neon", ("napi_",), r"<napi_[A-Za-z0-9]{40,}+", "napi_{x64}"),
    ("Grafana", ("glc_", "glsa_"), r"<gl(?:c|sa)_[A-Za-z0-9_+/=-]{30,}+", "glsa_{32}_{x8}"),
    ("Sentry", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9_+/=-]{40,}+", "sntryu_{x64}"),
    ("New Relic", ("nrak-", "nrii-", "nrra-"), r"<NR(?:AK|II|RA)-[A-Za-z0-9_-]{24,}+", "NRAK-{A27}"),
    ("Dynatrace", ("dt0",), r"<dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}", "dt0c01.{A24}.{A64}"),
    ("Prefect", ("pnu_", "pnb_"), r"<pn[ub]_[A-Za-z0-9]{36}", "pnu_{36}"),
    ("LaunchDarkly", ("sdk-", "api-"), rf"<(?:sdk|api)-{_UUID}", f"sdk-{_SOME_UUID}", 40),
    ("Linear", ("lin_api_", "lin_oauth_"), r"<lin_(?:api|oauth)_[A-Za-z0-9]{32,}+", "lin_api_{40}"),
    ("Notion", ("ntn_", "secret_"), r"<(?:ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))", "ntn_{46}"),
    ("Airtable", ("pat",), r"<pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat{14}.{x64}", 82),
    ("Asana", ("/1",), r"<[0-9]/1[0-9]{14,18}(?:/[0-9]{10,18})?:[0-9a-f]{32}", "2/1{d15}/{d16}:{x32}", 48),
    ("Figma", ("figd_", "figo_"), r"<fig[do]_[A-Za-z0-9_-]{32,}+", "figd_{40}"),
    ("HubSpot", ("pat-",), rf"<pat-[a-z]{{2}}[0-9]-{_UUID}", f"pat-na1-{_SOME_UUID}", 44),
    ("Contentful", ("cfpat-",), r"CFPAT-[A-Za-z0-9_-]{40,}+", "CFPAT-{43}"),
    ("Typeform", ("tfp_",), r"<tfp_[A-Za-z0-9_]{40,}+", "tfp_{44}_{14}"),
    ("PostHog project", ("phc_",), r"<phc_[A-Za-z0-9]{32,}+", "phc_{43}"),
    ("AWS session token", ("fwogzxivyxdz", "iqojb3jpz2lu"), r"<(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=_-]{40,}+",
     "FwoGZXIvYXdzE{120}"),
    ("ngrok", ("_",), r"<(?:1|2|3)[A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}(?![A-Za-z0-9_])", "2{26}_{21}", 48),
    ("Zhipu", (".",), r"<[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9.])", "{x32}.{16}", 49),
    ("Mem0", ("m0-",), r"<m0-[A-Za-z0-9]{32,}+", "m0-{40}"),
    ("Composio", ("ak_",), r"<ak_(?=[A-Za-z_-]{0,19}[0-9])[A-Za-z0-9_-]{20}(?![A-Za-z0-9_-])", "ak_{20}", 23),
    ("Okta", ("00",), r"<00[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])", "SSWS 00{40}", 40),
)  # fmt: skip


def _formats(rows: Iterable[_Row]) -> Iterator[TokenFormat]:
    for row in rows:
        shortest = row[4] if len(row) == 5 else SHORTEST_TOKEN
        yield TokenFormat(row[0], row[1], row[2], row[3], shortest)


TOKEN_FORMATS: Final = tuple(_formats(_ROWS))

_IN_CONTEXT: Final = (
    ("private key", "«-----BEGIN OPENSSH ·PRIVATE KEY-----\n{70}\n{70}\n-----END OPENSSH ·PRIVATE KEY-----»"),
    ("JSON Web Token", "got «ey·J{30}.ey·J{40}.{43}»"),
    ("AWS secret without a name", "id,«wJ·alrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»"),
    ("AWS secret without a name", "cp «wJ·alrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY» to the vault"),
    ("Authorization header", "curl -H 'Authorization: «Bearer made-up-and-plain»' https://example.test"),
    ("Authorization header", "Authorization: «Basic bWFkZTp1cC1leGFtcGxl»"),
    ("Authorization header", '{"authorization": "«Token {20}»"}'),
    ("other header", "curl -H 'X-Api-Key: «made-up-key»' https://example.test"),
    ("other header", "PRIVATE-TOKEN: «made-up-token»"),
    ("cookie", "Cookie: «session=made-up; theme=dark»"),
    ("cookie", "Set-Cookie: «sid={24}; Path=/; HttpOnly»"),
    ("cookie", "curl -b 'sid=«{24}»' https://example.test"),
    ("address", "git clone https://«bob:made-up»@example.test/repo.git"),
    ("address", "postgres://«app:ma/de-up1»@db:5432/app"),
    ("query", "GET https://example.test/list?token=«made-up»&page=2"),
    ("query", "https://example.test/?user=bob&pass=«made-up»"),
    ("query", "https://example.test/v1?key=«{24}»&alt=json"),
    ("query", "https://example.test/blob?sv=2024&sig=«MadeUp%2BExample%3D»"),
    ("netrc", "machine example.test login bob password «made-up»"),
    ("netrc", "machine example.test\n  login bob\n  password «made-up»\n"),
    ("environment", "PGPASSWORD=«made-up» psql -h db"),
    ("environment", "export DB_PASS=«made-up»"),
    ("environment", "export DB_PASS='«made up»' && make"),
    ("environment", "PASS=«made-up» ./run.sh"),
    ("environment", "AWS_SECRET_ACCESS_KEY=«made/up+example»"),
    ("environment", '$env:API_TOKEN = "«made-up»"'),
    ("environment", "docker run -e MYSQL_ROOT_PASSWORD=«made-up» mysql:8"),
    ("setting", '{"client_secret": "«made-up»", "port": 1}'),
    ("setting", "smtp:\n  password: «made-up»\n  port: 25"),
    ("setting", "Server=db;Uid=app;Pwd=«made-up»;Database=x"),
    ("option", "tool login --password «made-up» --user bob"),
    ("option", "tool --db-password=«made-up»"),
    ("option", "tool --passphrase «'made up'» x"),
    ("option", "tool --api-key «{20}»"),
    ("command", "mysql -u root -p«made-up» shop"),
    ("command", "mysqldump --host=db -p«'made up'» shop > dump.sql"),
    ("command", "sshpass -p «made-up» ssh -p 22 bob@example.test"),
    ("command", "curl -u bob:«made-up» https://example.test"),
    ("command", "curl -ubob:«made-up» https://example.test"),
    ("command", "curl --proxy-user bob:«made-up» https://example.test"),
    ("command", "docker login -u bob -p «made-up» example.test"),
    ("command", "echo «made-up» | docker login -u bob --password-stdin"),
    ("command", "echo «made-up» | sudo -S reboot"),
    ("command", "redis-cli -h cache -a «made-up» ping"),
    ("command", "mongosh -u bob -p «made-up» shop"),
    ("command", "sqlcmd -S db -U sa -P «made-up» -Q 'select 1'"),
    ("command", "cqlsh -u bob -p «made-up» db"),
    ("command", "7z x -p«made-up» a.7z"),
    ("command", "unzip -P «made-up» a.zip"),
    ("command", "ldapsearch -D cn=x -w «made-up» -b dc=x"),
    ("command", "smbclient //host/share -U bob%«made-up»"),
    ("command", "htpasswd -bc .htpasswd bob «made-up»"),
    ("command", "openssl rsa -in k.pem -passin pass:«made-up» -out o.pem"),
    ("command", "aws configure set aws_secret_access_key «made/up/example»"),
    ("command", "xfreerdp /u:bob /p:«made-up» /v:host"),
    ("command", "kubectl create secret generic x --from-literal=db=«made-up»"),
    ("command", "gh secret set X --body «made-up»"),
    ("command", "fly secrets set STRIPE=«made-up» -a app"),
    ("command", "redis-cli -h cache AUTH «made-up»"),
    ("command", "influx query -t «made-up» x"),
    ("command", "lftp -u bob,«made-up» host"),
    ("command", "curl -E c.pem:«made-up» https://example.test"),
    ("command", "keytool -storepass «made-up-1» -alias x"),
    ("command", "nuget sources add -Name x -Password «made-up-1»"),
    ("command", "echo 'bob:«made-up»' | chpasswd"),
    ("document", "<server><username>u</username><password>«made-up»</password></server>"),
    ("document", "<key>Password</key><string>«made-up»</string>"),
    ("document", '<add key="DbPassword" value="«made-up»"/>'),
    ("document", "env:\n  - name: DB_PASSWORD\n    value: «made-up»\n"),
    ("document", '[{"name": "API_TOKEN", "value": "«made-up»"}]'),
    ("document", '{"passwords": ["«made-up»"]}'),
    ("document", '"{\\\\\\"password\\\\\\": \\\\\\"«made-up»\\\\\\"}"'),
    ("document", "kind: Secret\ndata:\n  db: «bWFkZS11cA»\n"),
    ("document", "password: |\n  «made-up and more»\nport: 1"),
    ("document", '{"auths": {"example.test": {"auth": "«bWFkZTp1cA»"}}}'),
    ("document", "//example.test/:_auth=«bWFkZTp1cA»"),
    ("document", "CREATE USER bob IDENTIFIED BY '«made-up»';"),
    ("document", "ALTER ROLE bob WITH PASSWORD '«made-up»';"),
    ("document", "define('DB_PASSWORD', '«made-up-1»');"),
    ("document", 'requests.get(url, auth=("bob", "«made-up»"))'),
    ("document", "{ user: 'b', pass: '«made-up»' }"),
    ("document", "PresharedKey = «{43}»"),
    ("document", '{"kty":"RSA","e":"AQAB","d":"«{64}»"}'),
    ("document", "<password><![CDATA[«made-up»]]></password>"),
    ("document", '<entry key="db.password">«made-up»</entry>'),
    ("document", "<secret>\n  «made-up»\n</secret>"),
    ("document", "CREATE LOGIN x WITH PASSWORD = N'«made-up»'"),
    ("document", "SET PASSWORD FOR bob = PASSWORD('«made-up»')"),
    ("document", 'db.createUser({user:"a", pwd:"«made-up»", roles:[]})'),
    ("document", "ACL SETUSER bob on >«made-up» ~* +@all"),
    ("document", '{"value": "«made-up»", "name": "DB_PASSWORD"}'),
    ("document", 'variable "db_password" {\n  default = "«made-up»"\n}'),
    ("document", 'npmAuthIdent: "«bob:made-up»"'),
    ("document", '{"kind":"Secret","data":{"a":"«bWFkZS11cA»"}}'),
    ("document", 'secret = """\n«made-up»\n"""'),
    ("document", 'DriverManager.getConnection("jdbc:x", "bob", "«made-up»")'),
    ("document", "db.example:5432:app:bob:«made-up»"),
    ("document", "root:«$6$rounds=5000$abcdefgh${40}»:19000:0:"),
    ("document", "recovery_codes: [«a1b2c-d3e4f, g5h6i-j7k8l»]"),
    ("document", 'expect "Password:"\nsend "«made-up-1»\\r"'),
    ("command", "printf «made-up» | docker secret create db_pass -"),
    ("command", "echo -n «made-up» | gh secret set X"),
    ("command", "echo «made-up» | wrangler secret put X"),
    ("command", "vault login «made-up»"),
    ("command", "bw login a@b.c «made-up»"),
    ("command", "aws ssm put-parameter --type SecureString --name x --value «made-up»"),
    ("command", "az keyvault secret set --vault-name v -n x --value «made-up»"),
    ("command", "nmcli dev wifi connect x password «made-up»"),
    ("environment", "set -x API_KEY «made-up»"),
    ("environment", "setx API_KEY «made-up»"),
    ("environment", 'ConvertTo-SecureString "«made-up»" -AsPlainText -Force'),
    ("environment", "ALGOLIA_ADMIN_KEY=«made-up»"),
)


CONTEXTS: Final = tuple(SecretContext(*row) for row in _IN_CONTEXT)

#: Most hints are a word that ends in one of these.
_MARKS: Final = "_-."


def _by_mark() -> dict[str, dict[str, list[tuple[str, TokenFormat]]]]:
    """Group hints by the mark they end in, and by the text between it and the mark before; others under no mark."""
    groups: dict[str, dict[str, list[tuple[str, TokenFormat]]]] = {}
    for row in TOKEN_FORMATS:
        for hint in row.hints:
            mark = hint[-1] if hint[-1] in _MARKS else ""
            word = hint[:-1].rpartition(mark)[2] if mark else ""
            groups.setdefault(mark, {}).setdefault(word, []).append((hint, row))
    return groups


_GROUPS: Final = _by_mark()
_LENGTHS: Final = {mark: sorted({len(word) for word in group}) for mark, group in _GROUPS.items()}


def formats_in(words: str, longest: int) -> Iterable[tuple[str, int]]:
    """Return the patterns of the tokens that these lower-case words may contain, with the minimum length of each."""
    found: dict[str, int] = {}
    for mark, group in _GROUPS.items():
        if mark not in words:
            continue
        lengths = _LENGTHS[mark]
        # Looking up the text before each mark is much faster than searching for every hint.
        ends = {part[-lengths[-1] :] for part in words.split(mark)[:-1]} if mark else {""}
        for tail in {end[len(end) - length :] for end in ends for length in lengths if length <= len(end)}:
            for hint, row in group.get(tail, ()):
                if row.shortest <= longest and hint in words:
                    found[row.pattern] = row.shortest
    return found.items()
