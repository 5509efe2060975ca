"""Gemini CLI."""

from tools.clients.client import NO_KEY, OWN_HOOK, Client
from tools.clients.protocols.generate_content import GenerateContent
from tools.clients.protocols.protocol import call

GEMINI_CLI = Client(
    name="gemini-cli", package="@google/gemini-cli", program="gemini", protocol=GenerateContent(),
    words=lambda prompt, _mode, _url: ("-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt),
    environment=lambda url: {
        "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": NO_KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1",
    },
    settings=".gemini/settings.json", project_settings=".gemini/settings.json",
    beforehand={".gemini/settings.json": '{{"security": {{"auth": {{"selectedType": "gemini-api-key"}}}}}}\n'},
    before_tool="BeforeTool", prompted="BeforeAgent", ends="AfterAgent", second=1000,
    shell=lambda line: call("run_shell_command", command=line), background={"is_background": True},
    write=lambda file, text: call("write_file", file_path=file, content=text),
    converts=True, edit=("mcp", "add", "-s", "user", "one", "true"),
    own='{{\n  // mine\n  "security": {{"auth": {{"selectedType": "gemini-api-key"}}}},\n'
    f'   "hooks": {{{{"BeforeTool": {OWN_HOOK}}}}}\n}}}}\n',
)  # fmt: skip
